import type { Texts } from "../ticket.ts";

/** How the names of people are asked for. */
export interface NameScheme {
  /** The parts, in their order. */
  readonly parts: readonly string[];
  /** How somebody is addressed; `salutation` is empty where it is missing. */
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
    parts: ["given_name", "family_name"],
    greet: (part) => `${part("family_name")}${part("given_name")}`,
  },
  family_comma_given: {
    parts: ["given_name", "family_name"],
    greet: (part) => [part("family_name"), part("given_name")].filter((text) => text !== "").join(", "),
  },
  full: { parts: ["full_name"], greet: fullName },
  calling_full: { parts: ["calling_name", "full_name"], greet: fullName },
  full_transcription: { parts: ["full_name", "latin_transcription"], greet: fullName },
  salutation_given_family: { parts: ["salutation", "given_name", "family_name"], greet: politely },
  salutation_title_given_family: { parts: ["salutation", "title", "given_name", "family_name"], greet: politely },
  salutation_title_given_family_degree: {
    parts: ["salutation", "title", "given_name", "family_name", "degree"],
    greet: politely,
  },
};

function ofParts(...parts: readonly string[]): NameScheme {
  return { parts, greet: spaced(...parts) };
}

/** Finds a scheme; names are asked for in one piece where it is not known. */
export function findNameScheme(name: string): NameScheme {
  const found = Object.hasOwn(schemes, name) ? schemes[name] : undefined;
  return found ?? ofParts("full_name");
}

/** Lists all choices of one or more parts of a scheme, in the order of the scheme. */
export function combineParts({ parts }: NameScheme): string[][] {
  const choices = Array.from({ length: 2 ** parts.length - 1 }, (_, index) => index + 1);
  return choices.map((choice) => parts.filter((_, at) => (choice & (1 << at)) !== 0));
}

/** Reads a part of a name; missing ones are empty. */
export function namePart(parts: Texts, name: string): string {
  return Object.hasOwn(parts, name) ? (parts[name] ?? "").trim() : "";
}
