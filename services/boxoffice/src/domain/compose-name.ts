/** Name schemes that begin with the family name, and what follows it. */
const familyFirst: ReadonlyMap<string, string> = new Map([
  ["family_given", " "],
  ["family_nospace_given", ""],
  ["family_comma_given", ", "],
]);

/**
 * Composes a person's name of its parts.
 *
 * `full_name` is the whole name; otherwise the parts follow in the spoken order of their scheme (`_scheme`). Other keys
 * with a leading underscore, and a salutation, are not parts of the name.
 */
export function composeName(parts: Readonly<Record<string, string>>): string {
  const part = (name: string) => (Object.hasOwn(parts, name) ? (parts[name] ?? "").trim() : "");
  const fullName = part("full_name");
  if (fullName !== "") return fullName;
  const separator = familyFirst.get(part("_scheme"));
  const ordered = ["family_name", "given_name"].map(part).filter((text) => text !== "");
  if (separator !== undefined && ordered.length > 0) return ordered.join(separator);
  const name = ["title", "given_name", "middle_name", "family_name"]
    .map(part)
    .filter((text) => text !== "")
    .join(" ");
  const degree = part("degree");
  if (name !== "") return degree === "" ? name : `${name}, ${degree}`;
  return part("calling_name") || part("latin_transcription");
}
