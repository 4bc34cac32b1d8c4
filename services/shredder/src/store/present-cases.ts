import { type Sql, sql } from "@tessera/kit/pg/sql";

/** The event of a case was not deleted since: it still has its name. */
export const isOfPresent = sql`shred_case.event_gone_at is null`;

/** The cases of the event that has a name now. Those of its predecessors stay in the ledger, and say nothing of it. */
export const casesOf = ({
  organizer,
  event,
}: {
  readonly organizer: Sql | string;
  readonly event: Sql | string;
}) => sql`
  shred_case.organizer = ${organizer} and shred_case.event = ${event} and ${isOfPresent}`;
