import type { Db } from "@tessera/kit/pg/database";
import type { GetLayoutRequest, GetLayoutResponse } from "@tessera/protos/gen/ticketing/layout/v1/layouts";
import { findOfLayouts } from "../store/assignments.ts";
import { requireEvent } from "../store/events.ts";
import { requireLayout } from "../store/layouts.ts";
import { toWireLayout } from "../wire/layout-messages.ts";

/** Finds one layout of an event. */
export async function getLayout(request: GetLayoutRequest, { db }: { readonly db: Db }): Promise<GetLayoutResponse> {
  await requireEvent(db, request);
  const { organizer, event, id } = request;
  const layout = await requireLayout(db, { organizer, event, id });
  return { layout: toWireLayout(layout, await findOfLayouts(db, request, [id])) };
}
