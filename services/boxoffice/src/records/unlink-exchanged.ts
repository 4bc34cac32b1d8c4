import type { Tx } from "@tessera/kit/pg/database";
import type { Scope } from "../domain/scope.ts";
import { forgetExchangedOf, readMedia } from "../store/media.ts";
import { findMentioned, nothingMentioned } from "../store/references.ts";
import { readStoredMedium, reusableMedium } from "./reusable-medium.ts";

/**
 * Takes the next tickets of an event from the media that they were exchanged for here: the event may come again, with other
 * tickets of the same ids. Links that records brought stay: the shop says what becomes of them.
 */
export async function unlinkExchanged(
  tx: Tx,
  { organizer, event }: Scope,
  { limit }: { readonly limit: number },
): Promise<void> {
  const tickets = await forgetExchangedOf(tx, { organizer, event }, { limit });
  const ofMedium = Map.groupBy(tickets, ({ medium }) => medium);
  const values = (await readMedia(tx, organizer, [...ofMedium.keys()])).flatMap((stored) => {
    const checked = readStoredMedium(stored);
    if (!checked.ok) return [];
    const { data, document } = checked.value;
    const gone = new Set(ofMedium.get(data.id)?.map(({ position }) => position));
    const links = data.linked_orderpositions.filter((link) => link.event !== event || !gone.has(link.id));
    return [{ data: { ...data, linked_orderpositions: links }, document }];
  });
  const scope = { organizer, event: "" };
  await reusableMedium.store(tx, { scope, values, known: await findMentioned(tx, scope, nothingMentioned()) });
}
