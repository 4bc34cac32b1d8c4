import type { Consumer } from "@tessera/kit/bus/consume";
import type { Db } from "@tessera/kit/pg/database";
import { topics } from "@tessera/protos/topics";
import { putSubevents } from "../store/subevents.ts";
import { keepEntities } from "./keep-copy.ts";
import { toSubeventCopy } from "./read-facts.ts";

/** Keeps our copy of the dates of event series. */
export function subeventChanged(db: Db): Consumer {
  return keepEntities(topics.subeventChanged, db, {
    table: "subevent",
    put: (tx, changed) => putSubevents(tx, changed.map(toSubeventCopy)),
  });
}
