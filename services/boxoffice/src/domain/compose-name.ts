/**
 * Writes a person's name out of its parts.
 *
 * `full_name` is the whole name; otherwise the parts follow in the order in which they are spoken. Keys with a leading
 * underscore say how the parts are meant (`_scheme`), a salutation is no part of the name.
 */
export function composeName(parts: Readonly<Record<string, string>>): string {
  const part = (name: string) => (Object.hasOwn(parts, name) ? (parts[name] ?? "").trim() : "");
  const fullName = part("full_name");
  if (fullName !== "") return fullName;
  const name = ["title", "given_name", "middle_name", "family_name"]
    .map(part)
    .filter((text) => text !== "")
    .join(" ");
  const degree = part("degree");
  if (name !== "") return degree === "" ? name : `${name}, ${degree}`;
  return part("calling_name") || part("latin_transcription");
}
