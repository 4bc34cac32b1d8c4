import { type Consumer, consume } from "@tessera/kit/bus/consume";
import type { Db } from "@tessera/kit/pg/database";
import { topics } from "@tessera/protos/topics";
import { removeOlder } from "../store/keys.ts";
import { putMedia, removeMedia } from "../store/reusable-media.ts";
import { toMediumCopy } from "../wire-facts.ts";
import { newestStates } from "./newest-states.ts";

/** Keeps our copy of reusable media. */
export function reusableMediumChanged(db: Db): Consumer {
  return consume(
    topics.reusableMediumChanged,
    db,
    async (tx, facts) => {
      const { gone, changed } = newestStates(facts);
      await removeMedia(tx, gone);
      await putMedia(tx, changed.map(toMediumCopy));
    },
    { sweep: (tx, { before }) => removeOlder(tx, "reusable_medium", before) },
  );
}
