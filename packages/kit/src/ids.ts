import { randomInt } from "node:crypto";

/** Makes a code in which every character of the alphabet is equally likely at every place. */
export function randomCode(length: number, alphabet: string): string {
  // By code point, so that an alphabet beyond the basic plane is not cut into halves.
  const characters = Array.from(alphabet);
  if (characters.length < 2 || new Set(characters).size !== characters.length) {
    throw new RangeError("an alphabet needs at least two characters, each of them once");
  }
  if (!Number.isSafeInteger(length) || length < 0) throw new RangeError("a code's length is a whole number");
  let code = "";
  for (let place = 0; place < length; place += 1) code += characters[randomInt(characters.length)];
  return code;
}
