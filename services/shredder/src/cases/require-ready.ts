import type { EventKey } from "@tessera/events/entity-key";
import type { Client } from "@tessera/kit/rpc";
import type { Shredding } from "@tessera/protos/services";
import { fault } from "../faults.ts";

/** Throws where the personal data of an event may not be erased yet: only boxoffice knows, so it is asked. */
export async function requireReady(
  { organizer, event }: EventKey,
  { shredding }: { readonly shredding: Client<Shredding> },
): Promise<void> {
  const { problem } = await shredding.findReadiness({ organizer, event });
  if (problem !== undefined) throw fault("not_shreddable", problem);
}
