import type { Reads } from "@tessera/kit/pg/reads";
import type { FindBackgroundRequest, FindBackgroundResponse } from "@tessera/protos/gen/ticketing/layout/v1/layouts";
import { keyOf } from "../backgrounds/backgrounds.ts";
import { fault } from "../faults.ts";
import { findBackground as find } from "../store/stored-layouts.ts";

/** Finds the file at a public address. */
export async function findBackground(
  { organizer, event, background: name }: FindBackgroundRequest,
  { reads }: { readonly reads: Reads },
): Promise<FindBackgroundResponse> {
  const found = await reads.inTurn(organizer, (db) => find(db, { organizer, event, name }));
  if (found === null) throw fault("background_not_found", "There is no such background.");
  return { fileKey: keyOf(found.name), size: found.size, sha256: found.sha256 };
}
