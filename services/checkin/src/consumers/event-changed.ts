import type { Consumer } from "@tessera/kit/bus/consume";
import type { Db } from "@tessera/kit/pg/database";
import { topics } from "@tessera/protos/topics";
import { putEvents, removeEvents } from "../store/events.ts";
import { keepCopy } from "./keep-copy.ts";
import { toEventCopy } from "./read-facts.ts";

/** Keeps our copy of events. Lists of an event that is gone stay, unreachable: it may come back. */
export function eventChanged(db: Db): Consumer {
  return keepCopy(topics.eventChanged, db, {
    table: "event",
    remove: removeEvents,
    put: (tx, changed) => putEvents(tx, changed.map(toEventCopy)),
  });
}
