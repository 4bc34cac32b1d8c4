import { cutPage } from "@tessera/kit/lists/cut-page";
import type { Db } from "@tessera/kit/pg/database";
import type { ListErasedRequest, ListErasedResponse } from "@tessera/protos/gen/ticketing/shredder/v1/retention";
import { countErased, pageErased } from "../store/cases.ts";

/** Pages through the erasures that retention has made. */
export async function listErased(
  { organizer, ...asked }: ListErasedRequest,
  { db }: { readonly db: Db },
): Promise<ListErasedResponse> {
  const count = await countErased(db, organizer);
  const { page, limit, offset } = cutPage(asked, count);
  const found = await pageErased(db, { organizer, limit, offset });
  const erasures = found.map(({ event, id, kinds, erasedAt }) => ({
    event,
    case: id,
    shredders: [...kinds],
    erasedAt,
  }));
  return { erasures, count, page };
}
