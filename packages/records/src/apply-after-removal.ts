import { Fault } from "@tessera/kit/fault";
import type { Db } from "@tessera/kit/pg/database";
import type { ApplyRecordsRequest } from "@tessera/protos/gen/ticketing/records/v1/records";
import type { ApplyRecords } from "./apply-records.ts";

/** What removes the former contents of an event. */
export interface Removal {
  /** The code of the fault by which records of the event are refused until then. */
  readonly code: string;
  /** Removes what the events of these records still have; false: it was over before the end. */
  removeUntil(db: Db, request: ApplyRecordsRequest, isOver: () => boolean): Promise<boolean>;
}

/** Less than the sender's timeout. If this is not enough, the sender repeats the batch. */
const longestRemovalMs = 10_000;

/** Applies records. Those of an event whose former contents are being removed wait for the end, and help with it. */
export function applyAfterRemoval(apply: ApplyRecords, removal: Removal): ApplyRecords {
  return async (request, stores) => {
    const until = performance.now() + longestRemovalMs;
    for (;;) {
      try {
        return await apply(request, stores);
      } catch (error) {
        if (!(error instanceof Fault && error.code === removal.code)) throw error;
        if (!(await removal.removeUntil(stores.db, request, () => performance.now() > until))) throw error;
      }
    }
  };
}
