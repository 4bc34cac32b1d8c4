import type { ListDocumentsRequest } from "@tessera/protos/gen/ticketing/boxoffice/v1/catalogue";
import type { Tenant } from "../../access/caller.ts";

/** The events that credentials are for, as a condition of documents; undefined: all of the organizer. */
export function amongEventsOf({ events }: Tenant): ListDocumentsRequest["among"] {
  return events === undefined ? undefined : { slugs: [...events] };
}
