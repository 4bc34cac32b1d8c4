import type { Db } from "@tessera/kit/pg/database";
import type { FindReadinessRequest, FindReadinessResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/shredding";
import { refuseShredding } from "../domain/refuse-shredding.ts";
import { fault } from "../faults.ts";
import { findEnding } from "../store/personal-data.ts";

/** Tells whether the personal data of an event may be erased. */
export async function findReadiness(
  request: FindReadinessRequest,
  { db }: { readonly db: Db },
): Promise<FindReadinessResponse> {
  const ending = await findEnding(db, request);
  if (ending === undefined) throw fault("no_such_event", "there is no such event");
  return { problem: refuseShredding(ending) };
}
