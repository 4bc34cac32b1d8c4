import { FieldProblems } from "@tessera/schema/field-problems";

/** Errors of records, by record and field. */
export type RecordErrors<V> = Map<V, Record<string, string[]>>;

/** Notes what is wrong with a field. */
export type AddError = (field: string, message: string) => void;

/** Validates records one after the other; one without errors may be `admit`ted to what the next ones meet. */
export function refuseEach<V>(
  values: Iterable<V>,
  validate: (value: V, addError: AddError) => void,
  admit?: (value: V) => void,
): RecordErrors<V> {
  const refusals: RecordErrors<V> = new Map();
  for (const value of values) {
    const problems = new FieldProblems();
    validate(value, (field, message) => problems.add(field, message));
    if (problems.isEmpty) admit?.(value);
    else refusals.set(value, problems.toErrors());
  }
  return refusals;
}

/**
 * Refuses records that may refer to each other. After every refusal the rest is validated again: it may refer to what was
 * refused.
 */
export function refuseTogether<V>(
  values: readonly V[],
  refuse: (left: readonly V[]) => RecordErrors<V>,
): RecordErrors<V> {
  const refused: RecordErrors<V> = new Map();
  for (;;) {
    const found = refuse(values.filter((value) => !refused.has(value)));
    if (found.size === 0) return refused;
    for (const [value, errors] of found) refused.set(value, errors);
  }
}

/** Says something about an element of a list, which is reported under the name of the list. */
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
