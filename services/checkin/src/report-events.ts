import { Fault } from "@tessera/kit/fault";
import type { Log } from "@tessera/kit/telemetry/log";
import type { Metrics } from "@tessera/kit/telemetry/metrics";
import type { Scan, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { EventKey } from "./store/keys.ts";

/** Which list something happened to. */
export interface ListPlace extends EventKey {
  readonly list: number;
}

/** Log lines and counters of what happens here. None of them ever contains a code, a secret or a name. */
export type CheckinEvents = ReturnType<typeof reportEvents>;

const outcomeLabels: Readonly<Record<NonNullable<ScanOutcome["outcome"]>["$case"], string>> = {
  admitted: "admitted",
  refused: "refused",
  unknownTicket: "unknown_ticket",
  unknownList: "unknown_list",
  incomplete: "incomplete",
  exchange: "exchange",
  undecided: "undecided",
  crowded: "crowded",
};

/** The shortest time between two log lines about failed batches. */
const silenceMs = 1000;

export function reportEvents({ log, metrics }: { readonly log: Log; readonly metrics: Metrics }) {
  const scans = metrics.counter(
    "checkin_scans_total",
    "Decided scans by outcome, and by reason where they were refused.",
    ["outcome", "reason"],
  );
  // Prometheus sees no increase in a series that begins above zero: without this zero the first failed scan raises no
  // alert.
  scans.add({ outcome: outcomeLabels.undecided, reason: "" }, 0);
  const failures = metrics.counter(
    "checkin_batches_failed_total",
    "Batches of scans that could not be decided as a whole.",
  );
  const unanswered = metrics.counter(
    "checkin_tickets_not_asked_for_total",
    "Times that boxoffice gave no answer about codes that are unknown here.",
  );
  let silentUntil = 0;
  const exited = metrics.counter(
    "checkin_automatic_exits_total",
    "Tickets that were checked out by the exit_all_at of a list.",
  );
  return {
    listCreated(place: ListPlace): void {
      log.info("check-in list created", { ...place });
    },
    listChanged(place: ListPlace): void {
      log.info("check-in list changed", { ...place });
    },
    listDeleted(place: ListPlace): void {
      log.info("check-in list deleted with its scans", { ...place });
    },
    scanDecided({ organizer, event, list }: ListPlace, { outcome, position }: ScanOutcome): void {
      const kind = outcomeLabels[outcome?.$case ?? "undecided"];
      const reason = outcome?.$case === "refused" ? outcome.value.reason : "";
      scans.add({ outcome: kind, reason });
      if (kind === "admitted") return;
      const id = position?.position?.id;
      log.info("scan not admitted", { organizer, event, list, position: id, outcome: kind, reason });
    },
    /** A device reported a refusal that it had decided by itself. */
    refusalReported({ organizer, event, list }: ListPlace, { reason }: { readonly reason: string }): void {
      scans.add({ outcome: "reported", reason });
      log.debug("a device reported a scan that it refused", { organizer, event, list, reason });
    },
    /** A scan is dated further in the future than clocks differ. */
    scanAhead(
      { organizer, event, list, deviceId }: ListPlace & Pick<Scan, "deviceId">,
      { seconds }: { readonly seconds: number },
    ): void {
      const device = { organizer, event, list, deviceId };
      log.warn("a scan is dated in the future; the clock of its device may be wrong", { ...device, seconds });
    },
    /** Boxoffice gave no answer about codes that are unknown here. */
    ticketsNotFound(error: unknown): void {
      unanswered.add();
      log.debug("boxoffice gave no answer about unknown codes; they are refused", { error });
    },
    /** Boxoffice gave no answer about a medium: the scan that brought it is not decided. */
    mediumNotLinked({ organizer, event, list }: ListPlace, error: unknown): void {
      log.warn("boxoffice did not link a medium to a ticket; the scan may be sent again", {
        ...{ organizer, event, list },
        error,
      });
    },
    /** A decided scan could not be expanded: the answer has its ids alone. */
    notExpanded(error: unknown): void {
      log.warn("a decided scan could not be shown in full", { error });
    },
    /** A batch of scans, or a single scan, could not be decided. After a conflict the scans of a batch are decided one by one. */
    scansFailed(error: unknown, count: number): void {
      failures.add();
      // Without a database every batch fails; one line a second is enough.
      if (performance.now() < silentUntil) return;
      silentUntil = performance.now() + silenceMs;
      const about = { error, scans: count };
      if (count > 1 && error instanceof Fault && error.kind === "conflict")
        log.warn("scans met another change of the same rows, and are decided one by one", about);
      else log.error("scans could not be decided; tessera_checkin_batches_failed_total counts them", about);
    },
    /** The automatic exit of a list is complete; another replica may have begun it. */
    listExited({ organizer, event, list }: ListPlace, { exits }: { readonly exits: number }): void {
      exited.add(exits);
      log.info("a check-in list checked out all tickets, at its exit_all_at", { organizer, event, list, exits });
    },
  };
}
