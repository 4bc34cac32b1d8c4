import { FieldProblems } from "@tessera/schema/field-problems";

export type RecordErrors<V> = Map<V, Record<string, string[]>>;

export type AddError = (field: string, message: string) => void;

/**
 * Validates records one after the other; each may be `admit`ted to what the next ones meet, also a wrong one: what is wrong is
 * left out of it, or all are validated again without it.
 */
export function refuseEach<V>(
  values: Iterable<V>,
  validate: (value: V, addError: AddError) => void,
  admit?: (value: V) => void,
): RecordErrors<V> {
  const refusals: RecordErrors<V> = new Map();
  for (const value of values) {
    const problems = new FieldProblems({ most: Number.POSITIVE_INFINITY });
    validate(value, (field, message) => problems.add(field, message));
    admit?.(value);
    if (!problems.isEmpty) refusals.set(value, problems.toErrors());
  }
  return refusals;
}

/** Says something about an element of a list. */
export function ofElement(index: number, message: string): string {
  return `Element ${index + 1}: ${message}`;
}

/** Says that something a record refers to is missing. */
export function notKnown(what: string): string {
  return toSentence(`${what} is not known; its record must come first`);
}

/** Makes a sentence of words that begin with a name, which is written small. */
export function toSentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
