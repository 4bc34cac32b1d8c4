import type { Db } from "@tessera/kit/pg/database";
import type {
  FindAmbiguousSecretsRequest,
  FindAmbiguousSecretsResponse,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/tickets";
import { fault } from "../faults.ts";
import * as secrets from "../store/ambiguous-secrets.ts";

/** The limit of one statement. */
const mostEvents = 1000;

/** The first ones show which records are wrong. */
const reported = { most: 100, mostPositions: 10 };

/** Finds secrets that several tickets of one event have: a gate cannot tell the tickets apart. */
export async function findAmbiguousSecrets(
  { events }: FindAmbiguousSecretsRequest,
  { db }: { readonly db: Db },
): Promise<FindAmbiguousSecretsResponse> {
  if (events.length > mostEvents) throw fault("too_many_events", `ask about ${mostEvents} events at most`);
  const scopes = [...new Map(events.map((event) => [`${event.organizer}/${event.event}`, event])).values()];
  return { secrets: await secrets.findAmbiguousSecrets(db, scopes, reported) };
}
