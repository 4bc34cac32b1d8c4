import type { Clients } from "../../clients.ts";
import type { Incoming } from "../../http/route.ts";

/** Makes what throws `not_found` unless the event has the list that a path names as `{list}`. */
export function listRequirer(checkinLists: Clients["checkinLists"]) {
  return async (request: Incoming): Promise<void> => {
    await checkinLists.getCheckinList(request.inEvent({ id: request.id("list") }), { signal: request.signal });
  };
}
