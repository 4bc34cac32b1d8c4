import type { Log } from "@tessera/kit/log";
import type { Metrics } from "@tessera/kit/metrics";
import type { Scan, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { EventKey } from "./store/keys.ts";

/** Which list something happened to. */
export interface ListPlace extends EventKey {
  readonly list: number;
}

/** What operators and statistics hear of: log line and counter in one place. No code, secret or name is ever in either. */
export interface CheckinEvents {
  listCreated(place: ListPlace): void;
  listChanged(place: ListPlace): void;
  listDeleted(place: ListPlace): void;
  scanDecided(scan: Scan, outcome: ScanOutcome): void;
  /** A device reported a refusal that it had decided by itself. */
  refusalReported(place: ListPlace, refusal: { readonly reason: string }): void;
  /** A scan was dated later than clocks differ. */
  scanAhead(scan: Pick<Scan, "organizer" | "event" | "list" | "deviceId">, ahead: { readonly seconds: number }): void;
  /** Boxoffice did not say whether it has sold tickets with codes that are unknown here. */
  ticketsNotFound(error: unknown): void;
  /** A decided scan is shown by ids alone. */
  notExpanded(error: unknown): void;
  /** Scans could not be decided together, or one of them not even alone. */
  scansFailed(error: unknown, scans: number): void;
  countsFolded(rows: number): void;
  /** The automatic exit of a list was handled, by this process from where another had left it. */
  listExited(place: ListPlace, handled: { readonly exits: number }): void;
  /** Imported lists replaced what was there, or removed it. */
  listsImported(count: number): void;
}

/** Between two lines about batches that failed. */
const silenceMs = 1000;

export function reportEvents({ log, metrics }: { readonly log: Log; readonly metrics: Metrics }): CheckinEvents {
  const lists = metrics.counter("checkin_list_changes", "Check-in lists created, changed, deleted or imported.", [
    "change",
  ]);
  const scans = metrics.counter("checkin_scans", "Decided scans by outcome, and by reason where they were refused.", [
    "outcome",
    "reason",
  ]);
  const failures = metrics.counter("checkin_batches_failed", "Batches of scans that could not be decided as a whole.");
  const unanswered = metrics.counter(
    "checkin_tickets_not_asked_for",
    "Times that boxoffice gave no answer about codes that are unknown here.",
  );
  let silentUntil = 0;
  const exited = metrics.counter(
    "checkin_automatic_exits",
    "Tickets that were checked out by the exit_all_at of a list.",
  );
  const folded = metrics.counter("checkin_count_rows_folded", "Count rows that were replaced by their sums.");
  return {
    listCreated(place) {
      lists.add({ change: "created" });
      log.info("check-in list created", { ...place });
    },
    listChanged(place) {
      lists.add({ change: "changed" });
      log.info("check-in list changed", { ...place });
    },
    listDeleted(place) {
      lists.add({ change: "deleted" });
      log.info("check-in list deleted with its scans", { ...place });
    },
    listsImported(count) {
      if (count === 0) return;
      lists.add({ change: "imported" }, count);
      log.debug("check-in lists imported", { lists: count });
    },
    scanDecided({ organizer, event, list }, { outcome, position }) {
      const kind = outcome?.$case ?? "failed";
      const reason = outcome?.$case === "refused" ? outcome.value.reason : "";
      scans.add({ outcome: kind, reason });
      if (kind === "admitted") return;
      log.info("scan not admitted", {
        organizer,
        event,
        list,
        position: position?.position?.id,
        outcome: kind,
        reason,
      });
    },
    refusalReported({ organizer, event, list }, { reason }) {
      scans.add({ outcome: "told", reason });
      log.debug("a device reported a scan that it refused", { organizer, event, list, reason });
    },
    scanAhead({ organizer, event, list, deviceId }, { seconds }) {
      log.warn("a scan is dated in the future; the clock of its device may be wrong", {
        organizer,
        event,
        list,
        deviceId,
        seconds,
      });
    },
    ticketsNotFound(error) {
      unanswered.add();
      log.debug("boxoffice was asked for tickets in vain; unknown codes are refused", { error });
    },
    notExpanded(error) {
      log.warn("what a scan is about could not be shown in full", { error });
    },
    scansFailed(error, count) {
      failures.add();
      // Without a database every batch fails; one line in a while says so.
      if (performance.now() < silentUntil) return;
      silentUntil = performance.now() + silenceMs;
      log.error("scans could not be decided; what failed is counted in checkin_batches_failed", {
        error,
        scans: count,
      });
    },
    listExited({ organizer, event, list }, { exits }) {
      exited.add(exits);
      log.info("everybody inside a check-in list was checked out, as its exit_all_at says", {
        organizer,
        event,
        list,
        exits,
      });
    },
    countsFolded(rows) {
      if (rows > 0) folded.add(rows);
    },
  };
}
