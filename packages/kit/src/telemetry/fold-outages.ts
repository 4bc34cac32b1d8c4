import { Fault } from "../fault.ts";
import type { Fields, Log } from "./log.ts";

/** The line of a pool of connections that is served again after a failure. It ends an outage. */
export const databaseAnswers = "the database answers again";

/** As long as failures follow each other within this time they are of one outage, whatever succeeds between them. */
const settledMs = 5000;

/** Without a failure for this long an outage has ended, though no pool of this process has noticed. */
const silentMs = 60_000;

/** The interval of log lines about an outage that lasts. */
const reminderMs = 60_000;

const awayCode = "database_unavailable";

/** While connections wait for a server that is silent, others find none that is free. Alone it means much work. */
const byOutage: ReadonlySet<string> = new Set([awayCode, "database_busy"]);
const away: ReadonlySet<string> = new Set([awayCode]);
const deepestCause = 8;

interface Outage {
  readonly begunAt: number;
  /** When the last line about it was written. */
  toldAt: number;
  failedAt: number;
  /** When the database first answered after the last failure. */
  answeredAt: number | undefined;
  /** How many lines were folded. */
  folded: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Makes one outage of the database a few lines of the process: the first failure in full, a reminder each minute, and the
 * end. Every request, job and sampler fails by it, so that hundreds of lines would hide what else is wrong.
 *
 * Only warnings and errors are folded whose error is, or was caused by, a database that cannot be used.
 */
export function foldOutages(log: Log): Log {
  let outage: Outage | undefined;
  const seconds = (from: number, to: number) => Math.round((to - from) / 1000);

  function wait(open: Outage, ms: number) {
    clearTimeout(open.timer);
    open.timer = setTimeout(() => end(open), ms).unref();
  }
  function end({ begunAt, answeredAt, failedAt, folded }: Outage) {
    outage = undefined;
    log.warn("the outage of the database has ended", { seconds: seconds(begunAt, answeredAt ?? failedAt), folded });
  }
  function answered() {
    if (outage === undefined || outage.answeredAt !== undefined) return;
    outage.answeredAt = performance.now();
    wait(outage, settledMs);
  }
  function failed(own: Log, message: string, fields: Fields) {
    const now = performance.now();
    if (outage === undefined) {
      outage = { begunAt: now, toldAt: now, failedAt: now, answeredAt: undefined, folded: 0, timer: undefined };
      own.warn("the database is away: further failures by it are counted, and not written", {
        ...fields,
        met: message,
      });
    } else {
      Object.assign(outage, { failedAt: now, answeredAt: undefined, folded: outage.folded + 1 });
      if (now - outage.toldAt >= reminderMs) {
        outage.toldAt = now;
        log.warn("the database is still away", { seconds: seconds(outage.begunAt, now), folded: outage.folded });
      }
    }
    wait(outage, silentMs);
  }

  const isByOutage = (fields: Fields | undefined): fields is Fields => {
    const codes = outage === undefined ? away : byOutage;
    return fields !== undefined && Object.values(fields).some((value) => hasCode(value, codes));
  };

  const fold = (own: Log): Log => ({
    error: (message, fields) => (isByOutage(fields) ? failed(own, message, fields) : own.error(message, fields)),
    warn: (message, fields) => (isByOutage(fields) ? failed(own, message, fields) : own.warn(message, fields)),
    info: (message, fields) => (message === databaseAnswers ? answered() : own.info(message, fields)),
    debug: own.debug,
    with: (fields) => fold(own.with(fields)),
  });
  return fold(log);
}

/** Whether an error is, or was caused by, a database that cannot be used. */
export function isAway(value: unknown): boolean {
  return hasCode(value, away);
}

function hasCode(value: unknown, codes: ReadonlySet<string>): boolean {
  for (let at = value, depth = 0; at instanceof Error && depth < deepestCause; at = at.cause, depth += 1)
    if (at instanceof Fault && codes.has(at.code)) return true;
  return false;
}
