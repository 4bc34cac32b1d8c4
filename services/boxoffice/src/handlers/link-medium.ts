import type { Db, Tx } from "@tessera/kit/pg/database";
import {
  type LinkMediumRequest,
  type LinkMediumResponse,
  MediumLink,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/media";
import type { Reading } from "@tessera/records/read";
import type { Checked } from "@tessera/schema/schema";
import { formatInstant } from "@tessera/values";
import { judgeLink, type LinkVerdict, type MediumBefore } from "../domain/judge-link.ts";
import { fault } from "../faults.ts";
import { type Medium, readMedium, readStoredMedium, reusableMedium } from "../records/reusable-medium.ts";
import { lockPresent } from "../store/events.ts";
import { locksOf, takeLocks } from "../store/locks.ts";
import {
  findMedium,
  hasOtherMedium,
  hasUsableBeside,
  isTicketCode,
  nextMadeMedium,
  noteExchanged,
} from "../store/media.ts";
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
    const verdict = judgeLink({
      policy,
      medium: stored && (await readBefore(tx, request, stored)),
      hasOther: await hasOtherMedium(tx, request, { ...request, now }),
      isTicketCode: await isTicketCode(tx, request, request.identifier),
      now,
    });
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
  return found === undefined ? undefined : mustBeRead(readStoredMedium(found));
}

async function readBefore(
  tx: Tx,
  request: LinkMediumRequest,
  { data: { active, expires, linked_orderpositions: links } }: Reading<Medium>,
): Promise<MediumBefore> {
  const ofEvent = links.filter((each) => each.event === request.event).map(({ id }) => id);
  const others = ofEvent.filter((id) => id !== request.position);
  const isTaken = await hasUsableBeside(tx, request, others);
  return { active, expires, isLinked: ofEvent.includes(request.position), links: links.length, isTaken };
}

async function make(tx: Tx, { type, identifier }: LinkMediumRequest, now: number): Promise<Reading<Medium>> {
  const created = formatInstant(now);
  return mustBeRead(readMedium({ id: await nextMadeMedium(tx), type, identifier, created, updated: created }));
}

function mustBeRead(checked: Checked<Reading<Medium>>): Reading<Medium> {
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
