import { type Consumer, consume } from "@tessera/kit/bus/consume";
import type { Db } from "@tessera/kit/pg/database";
import { topics } from "@tessera/protos/topics";
import { removeEntities, removeOlder } from "../store/keys.ts";
import { putSubevents } from "../store/subevents.ts";
import { toSubeventCopy } from "../wire-facts.ts";
import { newestStates } from "./newest-states.ts";

/** Keeps our copy of the dates of event series. */
export function subeventChanged(db: Db): Consumer {
  return consume(
    topics.subeventChanged,
    db,
    async (tx, facts) => {
      const { gone, changed } = newestStates(facts);
      await removeEntities(tx, "subevent", gone);
      await putSubevents(tx, changed.map(toSubeventCopy));
    },
    { sweep: (tx, { before }) => removeOlder(tx, "subevent", before) },
  );
}
