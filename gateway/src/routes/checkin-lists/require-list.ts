import type { Clients } from "../../clients.ts";
import type { Incoming } from "../../http/route.ts";

/** Makes a check that throws `not_found` unless the event has the list `{list}` of the path. */
export function listRequirer(checkinLists: Clients["checkinLists"]) {
  return (request: Incoming) =>
    checkinLists.getCheckinList(request.inEvent({ id: request.id("list") }), { signal: request.signal });
}
