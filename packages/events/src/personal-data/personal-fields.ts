import type { Topic } from "@tessera/protos/topic";

/** The fields of a fact with these kinds of personal data: paths in its message, for `filledFields` and `replaceFields`. */
export function personalFields(
  { personalData }: Pick<Topic<never>, "personalData">,
  kinds: Iterable<string>,
): string[] {
  return Array.from(kinds, (kind) => personalData[kind] ?? [])
    .flat()
    .map((path) => path.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()));
}
