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
  /** Applies the records, or only validates them. */
  readonly apply: Client<Records>["applyRecords"];
  readonly signal?: AbortSignal | undefined;
  /** How many more records may fail without an explanation; shared by all batches of an import. */
  readonly patience: { unexplained: number };
}

/** More failures are not due to single records: the owner is broken. */
export const mostUnexplained = 20;

/** Enough for a full batch on a busy database; a longer call hangs. */
const callMs = 60_000;

/** A restarting owner is back within this time. To resend a batch is harmless: records are idempotent. */
const patienceMs = 30_000;
const pauses = { firstMs: 100, longestMs: 3000 };

/**
 * Sends a batch to its owner, and returns the result.
 *
 * Waits while the owner is unavailable. A timeout is final: the next try would time out, too. If the owner fails on a
 * batch, the batch is bisected until the bad record is alone, so that the other records are applied.
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
