import type { Client } from "@tessera/kit/rpc";
import type { RecordOwnerName } from "@tessera/protos/record-kinds";
import type { Facts, Records } from "@tessera/protos/services";
import type { Clients } from "../clients.ts";

/** A service that records go to. */
export interface RecordOwner {
  readonly records: Client<Records>;
  readonly facts: Pick<Client<Facts>, "markFacts">;
  /** Owners of what its records refer to: it must have copied their facts before it can check its records. */
  readonly after: readonly RecordOwnerName[];
}

export type RecordOwners = Readonly<Record<RecordOwnerName, RecordOwner>>;

/** The owners of all kinds of records. An owner must not wait for itself, directly or through others. */
export function recordOwners(
  clients: Pick<Clients, "boxofficeRecords" | "boxofficeFacts" | "checkinRecords" | "checkinFacts">,
): RecordOwners {
  return {
    boxoffice: { records: clients.boxofficeRecords, facts: clients.boxofficeFacts, after: [] },
    checkin: { records: clients.checkinRecords, facts: clients.checkinFacts, after: ["boxoffice"] },
  };
}
