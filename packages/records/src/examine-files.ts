import type { Fault } from "@tessera/kit/fault";
import { Turns } from "@tessera/kit/waiting/turns";
import { openExaminer } from "@tessera/sent-files/examine";
import { fault } from "./faults.ts";
import type { RecordKind } from "./kind.ts";
import type { Readable } from "./read-record.ts";

interface ExaminationTimes {
  /** How long the files of a batch may be examined, and then those of the record that is being examined. */
  readonly mostMs: number;
  /** The limit of a single file, which a record with many of them shortens. */
  readonly mostMsEach: number;
}

/** A sender waits for a minute. */
const usualTimes: ExaminationTimes = { mostMs: 20_000, mostMsEach: 5000 };

/** Files are examined in memory. Owners of records serve the operator alone, so all batches share one limit. */
const atOnce = new Turns({
  total: 2,
  each: 2,
  waitMs: usualTimes.mostMs,
  busy: () => fault("examination_busy", "too many files are being examined at once; send the records again"),
});

type Files = Pick<RecordKind<unknown, unknown, unknown>, "examineFiles" | "filesOf">;

/**
 * Examines the files that records bring along, in a worker thread. Records that together take too long are not applied:
 * a sender halves such a batch until the record with the slow files is alone, and that one is rejected.
 */
export async function examineFiles<R extends Readable<Files>>(
  records: readonly R[],
  { mostMs, mostMsEach }: ExaminationTimes = usualTimes,
): Promise<readonly R[]> {
  if (!records.some(bringsFiles)) return records;
  const turn = { party: "records", amount: 1, signal: new AbortController().signal };
  return atOnce.run(turn, async () => {
    const examiner = openExaminer();
    const examined: R[] = [];
    const until = performance.now() + mostMs;
    let isFirst = true;
    try {
      for (const record of records) {
        if (!bringsFiles(record)) {
          examined.push(record);
          continue;
        }
        const now = performance.now();
        if (!isFirst && now > until) throw tooLong();
        isFirst = false;
        const value = await record.kind.examineFiles?.(record.value, (file) =>
          examiner.examine(file, { maxMs: Math.min(mostMsEach, now + mostMs - performance.now()) }),
        );
        examined.push({ ...record, value });
      }
    } finally {
      await examiner.close();
    }
    return examined;
  });
}

function bringsFiles({ kind, removal, scope, value }: Readable<Files>): boolean {
  if (removal || kind.examineFiles === undefined) return false;
  const [first] = kind.filesOf?.(value, scope) ?? [];
  return first !== undefined;
}

function tooLong(): Fault {
  return fault("files_take_long", "The files of these records take too long to be examined. Send fewer at once.");
}
