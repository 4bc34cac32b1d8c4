import { type Consumer, consume } from "@tessera/kit/bus/consume";
import type { Db } from "@tessera/kit/pg/database";
import { topics } from "@tessera/protos/topics";
import { putEvents, removeEvents } from "../store/events.ts";
import { removeOlder } from "../store/keys.ts";
import { toEventCopy } from "../wire-facts.ts";
import { newestStates } from "./newest-states.ts";

/** Keeps our copy of events. Lists of an event that is gone stay, unreachable: it may come back. */
export function eventChanged(db: Db): Consumer {
  return consume(
    topics.eventChanged,
    db,
    async (tx, facts) => {
      const { gone, changed } = newestStates(facts);
      await removeEvents(tx, gone);
      await putEvents(tx, changed.map(toEventCopy));
    },
    { sweep: (tx, { before }) => removeOlder(tx, "event", before) },
  );
}
