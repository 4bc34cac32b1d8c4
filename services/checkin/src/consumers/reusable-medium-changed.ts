import type { Consumer } from "@tessera/kit/bus/consume";
import type { Db } from "@tessera/kit/pg/database";
import { topics } from "@tessera/protos/topics";
import { putMedia, removeMedia } from "../store/reusable-media.ts";
import { keepCopy } from "./keep-copy.ts";
import { toMediumCopy } from "./read-facts.ts";

/** Keeps our copy of reusable media. */
export function reusableMediumChanged(db: Db): Consumer {
  return keepCopy(topics.reusableMediumChanged, db, {
    table: "reusable_medium",
    remove: removeMedia,
    put: (tx, changed) => putMedia(tx, changed.map(toMediumCopy)),
  });
}
