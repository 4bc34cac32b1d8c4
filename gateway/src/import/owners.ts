import type { Client } from "@tessera/kit/rpc";
import { Turns } from "@tessera/kit/waiting/turns";
import type { RecordOwnerName } from "@tessera/protos/record-kinds";
import type { Facts, Records } from "@tessera/protos/services";
import type { Clients } from "../clients.ts";
import { fault } from "../faults.ts";

/** A service that owns records. */
export interface RecordOwner {
  readonly records: Client<Records>;
  readonly facts: Pick<Client<Facts>, "markFacts">;
  /** Owners that its records refer to: it must have copied their facts before it can check its records. */
  readonly after: readonly RecordOwnerName[];
  /** Imports take turns in sending batches. */
  readonly turns: Turns;
}

export type RecordOwners = Readonly<Record<RecordOwnerName, RecordOwner>>;

/** Each batch is a transaction with locks. More concurrent batches would take database connections from gates. */
const batchesAtOnce = 2;

/** Imports wait for each other rather than fail. */
const waitMs = 10 * 60_000;

/** The owners of all kinds of records. The graph of `after` is acyclic. */
export function recordOwners(
  clients: Pick<
    Clients,
    | "boxofficeRecords"
    | "boxofficeFacts"
    | "checkinRecords"
    | "checkinFacts"
    | "voucherRecords"
    | "voucherFacts"
    | "layoutRecords"
    | "layoutFacts"
  >,
): RecordOwners {
  return {
    boxoffice: { records: clients.boxofficeRecords, facts: clients.boxofficeFacts, after: [], turns: batchTurns() },
    checkin: {
      records: clients.checkinRecords,
      facts: clients.checkinFacts,
      after: ["boxoffice"],
      turns: batchTurns(),
    },
    voucher: {
      records: clients.voucherRecords,
      facts: clients.voucherFacts,
      after: ["boxoffice"],
      turns: batchTurns(),
    },
    "layout-and-render": {
      records: clients.layoutRecords,
      facts: clients.layoutFacts,
      after: ["boxoffice"],
      turns: batchTurns(),
    },
  };
}

export function batchTurns(): Turns {
  const busy = () => fault("owner_unavailable", "other imports take too long", { retryAfterMs: 60_000 });
  return new Turns({ total: batchesAtOnce, each: 1, waitMs, busy });
}
