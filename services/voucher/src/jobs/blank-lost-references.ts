import { hasOutboxRoom } from "@tessera/kit/bus/outbox-room";
import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { blankNext, vouchersAtATime } from "../leftovers/replace-references.ts";
import { findLost, type LostReference } from "../store/lost-references.ts";

const everyMs = 2000;

const referencesAtATime = 100;

/** Changes vouchers that refer to deleted entities, beyond the first ones that the consumer changes. */
export function blankLostReferences({ db }: { readonly db: Db }): Job {
  return {
    name: "blank-lost-references",
    everyMs,
    async run(signal) {
      for (let after: LostReference | undefined; !signal.aborted; ) {
        if (!(await hasOutboxRoom(db))) return;
        const lost: LostReference[] = await findLost(db, { after, limit: referencesAtATime });
        if (lost.length === 0) return;
        const changed = await db.transaction((tx) => blankNext(tx, lost));
        if (changed < vouchersAtATime) after = lost.at(-1);
      }
    },
  };
}
