import { runInContext } from "../context.ts";
import type { Db } from "../pg/database.ts";
import { describeCause, withoutNul } from "../telemetry/describe-cause.ts";
import type { Log } from "../telemetry/log.ts";
import { pause } from "../waiting/pause.ts";
import type { WorkMeter } from "./measure-work.ts";
import { LeaseLost, type Worker, WorkFailed } from "./work-on.ts";
import * as table from "./work-table.ts";

interface Tools {
  readonly db: Db;
  readonly log: Log;
  readonly meter: Pick<WorkMeter, "ended">;
  /** Aborts when the process stops. */
  readonly signal: AbortSignal;
}

interface Claimed {
  readonly row: table.ClaimedRow;
  readonly claim: table.Claim;
}

/** Tries a claimed piece of work under its lease, and notes how the try has ended. Never fails. */
export async function performWork(worker: Worker, claimed: Claimed, tools: Tools): Promise<void> {
  const { row, claim } = claimed;
  const { db, log, meter, signal } = tools;
  const { traceparent } = row;
  const lease = keepLease(claim, worker.work, tools);
  try {
    signal.throwIfAborted();
    await runInContext(traceparent === null ? {} : { traceparent }, () =>
      worker.perform(row, { db, claim, signal: AbortSignal.any([signal, lease.lost]) }),
    );
    meter.ended(claim.kind, "succeeded");
  } catch (error) {
    try {
      await noteFailure(error, { ...claimed, lost: lease.lost }, tools);
    } catch (another) {
      log.warn("a try failed and could not be noted; the lease ends by itself", {
        ...nameTry(claimed),
        error: another,
      });
    }
  } finally {
    await lease.release();
  }
}

async function noteFailure(
  error: unknown,
  { lost, ...claimed }: Claimed & { readonly lost: AbortSignal },
  { db, log, meter, signal }: Tools,
): Promise<void> {
  const { claim } = claimed;
  const about = nameTry(claimed);
  if (error instanceof WorkFailed) {
    if (await table.fail(db, claim, withoutNul(error.message))) meter.ended(claim.kind, "failed");
    log.info("work has failed", { ...about, cause: error.message });
  } else if (error instanceof LeaseLost || lost.aborted) {
    log.warn("a lease was lost: the work is another worker's", about);
  } else if (signal.aborted) {
    await table.giveBack(db, claim);
  } else {
    const next = await table.failTry(db, claim, describeCause(error));
    if (next?.state === "failed") {
      meter.ended(claim.kind, "failed");
      log.error("work has failed: its last try did", { ...about, error });
    } else log.warn("a try failed; the work is tried again", { ...about, error });
  }
}

function nameTry({ row, claim }: Claimed) {
  return { work: claim.kind, id: claim.id, tries: row.tries };
}

/** Extends a lease three times within its length, until it is released or lost. */
function keepLease(
  claim: table.Claim,
  { leaseMs }: { readonly leaseMs: number },
  { db, log }: Pick<Tools, "db" | "log">,
) {
  const released = new AbortController();
  const lost = new AbortController();

  async function extend(): Promise<void> {
    for (;;) {
      await pause(leaseMs / 3, released.signal);
      if (released.signal.aborted) return;
      try {
        if (!(await table.beat(db, claim, { leaseMs })) && !released.signal.aborted) return lost.abort();
      } catch (error) {
        log.warn("a lease could not be extended", { work: claim.kind, id: claim.id, error });
      }
    }
  }

  const extending = extend();
  return {
    lost: lost.signal,
    async release() {
      released.abort();
      await extending;
    },
  };
}
