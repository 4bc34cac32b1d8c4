/** The characters that a random text has, and how many. */
export interface TextShape {
  readonly alphabet: string;
  readonly length: number;
}

/** Makes texts of random bytes, as many as those suffice for. */
export function makeTexts(bytes: Uint8Array, { alphabet, length }: TextShape): string[] {
  // Bytes from here on are left out, because the first characters would be more frequent otherwise.
  const firstUnused = 256 - (256 % alphabet.length);
  const texts: string[] = [];
  let text = "";
  for (const byte of bytes) {
    if (byte >= firstUnused) continue;
    text += alphabet.charAt(byte % alphabet.length);
    if (text.length < length) continue;
    texts.push(text);
    text = "";
  }
  return texts;
}
