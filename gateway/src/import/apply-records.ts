import { Fault, isTimeout, isTransient } from "@tessera/kit/fault";
import type { Client } from "@tessera/kit/rpc";
import { backoff } from "@tessera/kit/waiting/backoff";
import { pause } from "@tessera/kit/waiting/pause";
import type {
  ApplyRecordsResponse,
  RejectedRecord,
  Record as WireRecord,
} from "@tessera/protos/gen/ticketing/records/v1/records";
import type { Records } from "@tessera/protos/services";

export interface ApplyOptions {
  /** Applies them, or says what would become of them. */
  readonly apply: Client<Records>["applyRecords"];
  readonly signal?: AbortSignal | undefined;
  /** How many more records may fail for a reason that the owner did not explain; shared by all batches of an import. */
  readonly patience: { unexplained: number };
}

/** More failures than this are not due to single records: the owner is broken. */
export const mostUnexplained = 20;

/** A batch of full size on a busy database; what takes longer is stuck. */
const callMs = 60_000;

/** An owner that restarts is back within this time. Sending a batch again is harmless: records are idempotent. */
const patienceMs = 30_000;
const pauses = { firstMs: 100, longestMs: 3000 };

/**
 * Sends a batch to its owner, and returns the result.
 *
 * While the owner is unavailable, the batch waits. A time limit ends it: the
 * next try would run into it, too. If the owner fails on a batch, the batch is
 * halved until the bad record is alone, so that the other records are applied.
 */
export async function applyRecords(
  records: readonly WireRecord[],
  options: ApplyOptions,
): Promise<ApplyRecordsResponse> {
  try {
    return await applyWithRetries(records, options);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (isTransient(error)) throw error;
    if (records.length > 1) {
      const middle = records.length >> 1;
      const first = await applyRecords(records.slice(0, middle), options);
      const second = await applyRecords(records.slice(middle), options);
      const keys = [first, second].flatMap(({ ignored }) => ignored?.keys ?? []);
      const warned = [first, second].flatMap((half) => half.warned?.records ?? []);
      return {
        rejected: [...first.rejected, ...second.rejected],
        ignored: { keys },
        ...(warned.length === 0 ? {} : { warned: { records: warned } }),
      };
    }
    if (!(error instanceof Fault)) {
      options.patience.unexplained -= 1;
      if (options.patience.unexplained < 0) throw error;
    }
    return { rejected: records.map(({ line }) => toRejected(line, error)) };
  }
}

async function applyWithRetries(
  records: readonly WireRecord[],
  { apply, signal }: ApplyOptions,
): Promise<ApplyRecordsResponse> {
  const until = Date.now() + patienceMs;
  for (let failed = 1; ; failed += 1) {
    const pauseMs = backoff(pauses, failed);
    try {
      return await apply({ records: [...records] }, { timeoutMs: callMs, signal });
    } catch (error) {
      signal?.throwIfAborted();
      if (!isTransient(error) || isTimeout(error) || Date.now() + pauseMs > until) throw error;
    }
    await pause(pauseMs);
  }
}

function toRejected(line: number, error: unknown): RejectedRecord {
  if (error instanceof Fault) {
    const errors = Object.entries(error.fields ?? { non_field_errors: [error.message] });
    return { line, errors: errors.map(([field, messages]) => ({ field, messages: [...messages] })) };
  }
  return {
    line,
    errors: [
      { field: "non_field_errors", messages: ["This record could not be applied; the service's log says why."] },
    ],
  };
}
