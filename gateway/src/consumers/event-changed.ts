import { keepCopy } from "@tessera/kit/bus/keep-copy";
import { endingErasures } from "@tessera/kit/pg/gone-events";
import { topics } from "@tessera/protos/topics";
import { announceChange, type Forgetful, forgetAccess } from "../access/change-notice.ts";
import { events } from "../store/events.ts";

/** Keeps our copy of which events there are. */
export const eventChanged = keepCopy(topics.eventChanged, endingErasures(events), (fact) => fact, {
  afterChange: announceChange,
  afterDelivery: (deps: Forgetful) => forgetAccess(deps),
});
