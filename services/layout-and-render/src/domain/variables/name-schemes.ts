import type { Texts } from "../ticket.ts";

/** The parts of a name that an event asks for. */
export interface NameScheme {
  /** All subsequences of its parts, by the names of these joined. */
  readonly choices: ReadonlyMap<string, readonly string[]>;
  /** The form of address; a missing `salutation` is empty. */
  greet(part: (name: string) => string): string;
}

function spaced(...names: readonly string[]): NameScheme["greet"] {
  return (part) => join(names.map(part));
}

function join(texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join(" ");
}

/** With a salutation the given name is left out. */
const politely: NameScheme["greet"] = (part) => {
  const salutation = part("salutation");
  return join([salutation, part("title"), salutation === "" ? part("given_name") : "", part("family_name")]);
};

const fullName = spaced("full_name");

const schemes: Readonly<Record<string, NameScheme>> = {
  given_family: ofParts("given_name", "family_name"),
  title_given_family: ofParts("title", "given_name", "family_name"),
  given_middle_family: ofParts("given_name", "middle_name", "family_name"),
  title_given_middle_family: ofParts("title", "given_name", "middle_name", "family_name"),
  family_given: ofParts("family_name", "given_name"),
  family_nospace_given: {
    choices: combine("given_name", "family_name"),
    greet: (part) => `${part("family_name")}${part("given_name")}`,
  },
  family_comma_given: {
    choices: combine("given_name", "family_name"),
    greet: (part) => [part("family_name"), part("given_name")].filter((text) => text !== "").join(", "),
  },
  full: { choices: combine("full_name"), greet: fullName },
  calling_full: { choices: combine("calling_name", "full_name"), greet: fullName },
  full_transcription: { choices: combine("full_name", "latin_transcription"), greet: fullName },
  salutation_given_family: { choices: combine("salutation", "given_name", "family_name"), greet: politely },
  salutation_title_given_family: {
    choices: combine("salutation", "title", "given_name", "family_name"),
    greet: politely,
  },
  salutation_title_given_family_degree: {
    choices: combine("salutation", "title", "given_name", "family_name", "degree"),
    greet: politely,
  },
};

/** The known schemes, each with its parts in their order. */
export const nameSchemes: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(schemes).map(([name, { choices }]) => [name, [...choices.values()].at(-1) ?? []]),
);

/** An unknown scheme asks for the full name. */
const unknown = ofParts("full_name");

function ofParts(...parts: readonly string[]): NameScheme {
  return { choices: combine(...parts), greet: spaced(...parts) };
}

function combine(...parts: readonly string[]): NameScheme["choices"] {
  const choices = Array.from({ length: 2 ** parts.length - 1 }, (_, index) =>
    parts.filter((_, at) => ((index + 1) & (1 << at)) !== 0),
  );
  return new Map(choices.map((choice) => [choice.join("_"), choice]));
}

export function findNameScheme(name: string): NameScheme {
  const found = Object.hasOwn(schemes, name) ? schemes[name] : undefined;
  return found ?? unknown;
}

/** Reads a part of a name; missing ones are empty. */
export function namePart(parts: Texts, name: string): string {
  return Object.hasOwn(parts, name) ? (parts[name] ?? "").trim() : "";
}
