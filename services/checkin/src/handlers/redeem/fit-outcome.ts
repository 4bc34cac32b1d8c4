import type { Documents, ListedPosition } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";

/** Half of the limit of a gRPC message: the sizes here are estimates. */
const mostOfMessage = 8 * 1024 * 1024;

/**
 * Shrinks an outcome that exceeds the message limit: the scan is stored, so it must be answered. Expanded resources are
 * left out first, then answers and history of the position.
 */
export function fitOutcome({
  shown,
  bare,
  mostBytes = mostOfMessage,
}: {
  readonly shown: ScanOutcome;
  /** The outcome without expanded resources. */
  readonly bare: ScanOutcome;
  readonly mostBytes?: number;
}): ScanOutcome {
  return [shown, bare].find((outcome) => weighOutcome(outcome) <= mostBytes) ?? withoutLists(bare);
}

function withoutLists({ position: listed, ...outcome }: ScanOutcome): ScanOutcome {
  if (listed?.position === undefined) return { ...outcome, position: undefined };
  return {
    ...outcome,
    position: { ...listed, checkins: [], addons: [], position: { ...listed.position, answers: [] } },
  };
}

/** A generous bound for the fields of bounded size. */
const fixedBytes = 8000;
const checkinBytes = 64;

/** Estimates the size of an outcome by its unbounded fields: to encode it would take as long as to send it. */
export function weighOutcome({ outcome: verdict, position, documents }: ScanOutcome): number {
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

/** UTF-8 takes at most this many bytes per UTF-16 code unit. */
const utf8Most = 3;

function weighDocuments(documents: Documents | undefined): number {
  if (documents === undefined) return 0;
  const all = [...documents.subevents, ...documents.items, ...documents.questions];
  return all.reduce((sum, { json }) => sum + json.length + 20, 0);
}

function lengthsOf(texts: readonly { readonly length: number }[]): number {
  return texts.reduce((sum, { length }) => sum + length + 10, 0);
}
