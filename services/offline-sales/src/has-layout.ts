import { Fault } from "@tessera/kit/fault";
import type { Client } from "@tessera/kit/rpc";
import type { Layouts } from "@tessera/protos/services";
import type { EventKey } from "./store/keys.ts";

/** Finds whether an event has a layout. */
export async function hasLayout(
  layouts: Client<Layouts>,
  { organizer, event }: EventKey,
  id: number,
): Promise<boolean> {
  try {
    await layouts.getLayout({ organizer, event, id });
    return true;
  } catch (error) {
    if (error instanceof Fault && error.kind === "not_found") return false;
    throw error;
  }
}
