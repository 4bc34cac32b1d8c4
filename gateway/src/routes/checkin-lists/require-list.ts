import type { Clients } from "../../clients.ts";
import type { Incoming } from "../../http/route.ts";

/** Makes what throws `not_found` unless the event has the list that a path names as `{list}`. */
export function listRequirer(checkinLists: Clients["checkinLists"]) {
  return async (request: Incoming): Promise<void> => {
    const { organizer, event, signal } = request;
    await checkinLists.getCheckinList({ organizer, event, id: request.id("list") }, { signal });
  };
}
