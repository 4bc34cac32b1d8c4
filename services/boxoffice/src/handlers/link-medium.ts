import type { Db, Tx } from "@tessera/kit/pg/database";
import {
  type LinkMediumRequest,
  type LinkMediumResponse,
  MediumLink,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/media";
import { type Misread, noteUnread, type Reading } from "@tessera/records/read";
import { formatInstant } from "@tessera/values";
import { judgeLink, type LinkVerdict, type MediumBefore } from "../domain/judge-link.ts";
import { fault } from "../faults.ts";
import { type Medium, readMedium, reusableMedium } from "../records/reusable-medium.ts";
import { lockPresent } from "../store/events.ts";
import { locksOf, takeLocks } from "../store/locks.ts";
import { findMedium, hasOtherMedium, nextMadeMedium, noteExchanged } from "../store/media.ts";
import { findPosition } from "../store/order-reads.ts";
import { findMentioned, nothingMentioned } from "../store/references.ts";

/**
 * Exchanges a ticket for a medium. The lock of the organizer's entities serializes exchanges, and keeps them apart from
 * records of media: of two tickets that come at once for one new medium, the second finds it made.
 */
export async function linkMedium(request: LinkMediumRequest, { db }: { readonly db: Db }): Promise<LinkMediumResponse> {
  const { organizer, event, position, policy } = request;
  return db.transaction(async (tx) => {
    await takeLocks(tx, locksOf([{ organizer, event: "" }]));
    const [present] = await lockPresent(tx, [{ organizer, event }]);
    if (present === undefined || (await findPosition(tx, { organizer, event, id: position })) === undefined)
      throw fault("order_position_not_found", "The event has no such position.");
    const { now } = present;
    const stored = await readStored(tx, request);
    const hasOther = await hasOtherMedium(tx, request, { ...request, now });
    const verdict = judgeLink({ policy, medium: stored && toBefore(stored, request), hasOther, now });
    if (verdict === "link" || verdict === "make") await link(tx, request, stored ?? (await make(tx, request, now)));
    return { result: results[verdict] };
  });
}

const results: Readonly<Record<LinkVerdict, MediumLink>> = {
  linked: MediumLink.LINKED,
  link: MediumLink.LINKED,
  make: MediumLink.LINKED,
  invalid: MediumLink.INVALID,
  exists: MediumLink.EXISTS,
  other: MediumLink.OTHER,
};

async function readStored(tx: Tx, request: LinkMediumRequest): Promise<Reading<Medium> | undefined> {
  const found = await findMedium(tx, request);
  return found === undefined ? undefined : mustRead(found, (found as Misread).unread);
}

function toBefore(
  { data: { active, expires, linked_orderpositions: links } }: Reading<Medium>,
  { event, position }: LinkMediumRequest,
): MediumBefore {
  const isLinked = links.some((each) => each.event === event && each.id === position);
  return { active, expires, isLinked, links: links.length };
}

async function make(tx: Tx, { type, identifier }: LinkMediumRequest, now: number): Promise<Reading<Medium>> {
  const created = formatInstant(now);
  return mustRead({ id: await nextMadeMedium(tx), type, identifier, created, updated: created });
}

function mustRead(sent: unknown, unread: readonly string[] = []): Reading<Medium> {
  const checked = noteUnread(readMedium(sent), unread);
  if (!checked.ok) throw fault("document_unreadable", "The medium is not accepted any more; send its record again.");
  return checked.value;
}

/** Stores the medium as a record of it would be: the tickets that were exchanged for it are added there. */
async function link(tx: Tx, request: LinkMediumRequest, value: Reading<Medium>): Promise<void> {
  const scope = { organizer: request.organizer, event: "" };
  await noteExchanged(tx, request, { medium: value.data.id });
  const known = await findMentioned(tx, scope, nothingMentioned());
  await reusableMedium.store(tx, { scope, values: [value], known });
}
