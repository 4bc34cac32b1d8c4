import type { Documents, ListedPosition } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";

/** What became of a scan. */
export interface ShownOutcome {
  /** Without expanded resources. */
  readonly bare: ScanOutcome;
  readonly shown: ScanOutcome;
}

/** Half of what a message may have: the sizes here are estimates. */
const mostBytes = 8 * 1024 * 1024;

/**
 * Leaves out what one message cannot carry: these scans are stored, so each must be answered. First go expanded
 * resources, then answers and history of the positions; of the largest first, so that only scans that ask for much get less.
 */
export function fitOutcomes(outcomes: readonly ShownOutcome[], limit = mostBytes): ScanOutcome[] {
  const fitted = outcomes.map(({ shown }) => shown);
  let total = fitted.reduce((sum, outcome) => sum + weigh(outcome), 0);
  if (total <= limit) return fitted;
  const replace = (index: number, smaller: ScanOutcome) => {
    total += weigh(smaller) - weigh(fitted[index]);
    fitted[index] = smaller;
  };

  const groups = Map.groupBy(fitted.keys(), (index) => fitted[index]?.documentsAt ?? index);
  for (const members of largestFirst([...groups.values()], (each) => sumOf(each, fitted))) {
    if (total <= limit) return fitted;
    for (const index of members) replace(index, outcomes[index]?.bare ?? fitted[index] ?? nothing);
  }
  for (const index of largestFirst([...fitted.keys()], (each) => weigh(fitted[each]))) {
    if (total <= limit) return fitted;
    replace(index, withoutLists(fitted[index] ?? nothing));
  }
  return fitted;
}

const nothing: ScanOutcome = { outcome: undefined, list: undefined, position: undefined, checkinTexts: [] };

function withoutLists({ position: listed, ...outcome }: ScanOutcome): ScanOutcome {
  if (listed?.position === undefined) return { ...outcome, position: undefined };
  return {
    ...outcome,
    position: { ...listed, checkins: [], addons: [], position: { ...listed.position, answers: [] } },
  };
}

function largestFirst<T>(items: readonly T[], sizeOf: (item: T) => number): T[] {
  return [...items].sort((one, other) => sizeOf(other) - sizeOf(one));
}

function sumOf(indexes: readonly number[], outcomes: readonly ScanOutcome[]): number {
  return indexes.reduce((sum, index) => sum + weigh(outcomes[index]), 0);
}

/** More than the other fields of a position have. */
const fixedBytes = 8000;
const checkinBytes = 64;

/** Estimates the size of an outcome by what has no bound of its own. To encode it for this would take as long as to send it. */
function weigh(outcome: ScanOutcome | undefined): number {
  if (outcome === undefined) return 0;
  const { outcome: verdict, position, documents } = outcome;
  const questions = verdict?.$case === "incomplete" ? lengthsOf(verdict.value.questions) : 0;
  return fixedBytes + questions + weighPosition(position) + weighDocuments(documents);
}

function weighPosition(listed: ListedPosition | undefined): number {
  if (listed === undefined) return 0;
  let bytes = listed.checkins.length * checkinBytes;
  for (const { answer, questionIdentifier, options, optionIdentifiers } of listed.position?.answers ?? []) {
    bytes +=
      utf8Most * (answer.length + questionIdentifier.length + lengthsOf(optionIdentifiers)) + options.length * 10;
  }
  for (const addon of listed.addons) bytes += fixedBytes + weighPosition(addon);
  return bytes;
}

/** The most bytes that one character of a text has. */
const utf8Most = 3;

function weighDocuments(documents: Documents | undefined): number {
  if (documents === undefined) return 0;
  const all = [...documents.subevents, ...documents.items, ...documents.questions];
  return all.reduce((sum, { json }) => sum + json.length + 20, 0);
}

function lengthsOf(texts: readonly { readonly length: number }[]): number {
  return texts.reduce((sum, { length }) => sum + length + 10, 0);
}
