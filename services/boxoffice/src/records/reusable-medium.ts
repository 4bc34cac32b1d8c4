import { topics } from "@tessera/protos/topics";
import { compileReader, type Misread, noteUnread, type Reading } from "@tessera/records/read";
import { reusableMediumRecord, type SentLink } from "@tessera/resources/records/reusable-medium";
import type { Checked, TypeOf } from "@tessera/schema/schema";
import { maxImportedId } from "@tessera/values";
import type { Known } from "../domain/known.ts";
import { mediumKey, refuseMedia } from "../domain/refuse-media.ts";
import { forgetExchanged, type LinkedTicket, readExchanged } from "../store/media.ts";
import { catalogueKind } from "./catalogue-kind.ts";
import type { RecordKind } from "./kind.ts";
import type { BroughtHere } from "./recall.ts";

/** A position of one of the organizer's events; null until its event is looked up. */
interface Link {
  event: string | null;
  id: number;
}

export type Medium = ReturnType<typeof complete>;

/** Reads the data of a medium, also of one that is made here. */
export const readMedium = compileReader(reusableMediumRecord, {
  complete,
  rules: { linked_orderposition: linkRule, "linked_orderpositions.*": linkRule },
  omit: ["linked_orderposition"],
});

/** Reads the stored document of a medium. */
export function readStoredMedium(found: unknown): Checked<Reading<Medium>> {
  return noteUnread(readMedium(found), (found as Misread).unread ?? []);
}

const base = catalogueKind({
  table: "reusable_medium",
  schema: reusableMediumRecord,
  read: readMedium,
  isRenamed(data, known) {
    const before = known.media.get(data.id);
    return before !== undefined && mediumKey(before) !== mediumKey(data);
  },
  fact: {
    topic: topics.reusableMediumChanged,
    of: ({ scope, data, revision }) => ({
      organizer: scope.organizer,
      id: data.id,
      revision,
      type: data.type,
      identifier: data.identifier,
      active: data.active,
      expires: data.expires ?? undefined,
      linkedPositions: data.linked_orderpositions.map(({ event, id }) => ({ event: event ?? "", id })),
    }),
  },
});

/** A chip or card that is linked to tickets of its organizer's events. */
export const reusableMedium: RecordKind<Reading<Medium>> = {
  ...base,
  mention({ data }, mentioned) {
    mentioned.media.add(data.id);
    mentioned.mediumCodes.push(data);
    for (const { id } of data.linked_orderpositions) mentioned.linkedPositions.add(id);
  },
  bring: ({ data: { type, identifier } }): BroughtHere<"reusable_medium"> => ({
    names: [identifier],
    data: { type, identifier },
  }),
  async refuse(_tx, { scope, values, known }) {
    return refuseMedia(values, { organizer: scope.organizer, known });
  },
  async store(tx, run) {
    const ids = run.values.map(({ data }) => data.id);
    const exchanged = await readExchanged(tx, run.scope.organizer, ids);
    const values = run.values.map((value) => withLinks(value, run.known, exchanged.get(value.data.id) ?? []));
    await base.store(tx, { ...run, values });
  },
  async remove(tx, removal) {
    await base.remove(tx, removal);
    await forgetExchanged(tx, removal.scope.organizer, removal.keys.map(Number));
  },
};

function linkRule(value: unknown): string | undefined {
  if (typeof value === "object") return undefined;
  const id = typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : value;
  const isId = Number.isInteger(id) && Number(id) >= 1 && Number(id) <= maxImportedId;
  return isId ? undefined : "Expected the id of a position, or a position with its event.";
}

function complete({ linked_orderposition, linked_orderpositions, ...data }: TypeOf<typeof reusableMediumRecord>) {
  const several = linked_orderpositions ?? [];
  const isLinkedByOne = several.length === 0 && linked_orderposition !== null;
  const sent = isLinkedByOne ? [linked_orderposition] : several;
  return { ...data, linked_orderpositions: sent.map(toLink), isLinkedByOne };
}

function toLink(sent: SentLink): Link {
  if (typeof sent !== "object") return { event: null, id: Number(sent) };
  const { id, event, order } = sent;
  return { event: event ?? (typeof order === "object" ? (order?.event ?? null) : null), id };
}

/**
 * Adds the events to links that came without, and the tickets that were exchanged for the medium here, of which its record
 * does not know; removes repeated links.
 */
function withLinks(
  value: Reading<Medium>,
  known: Pick<Known, "linkedPositions">,
  exchanged: readonly LinkedTicket[],
): Reading<Medium> {
  const sent = value.data.linked_orderpositions.map(({ event, id }) => ({
    event: event ?? known.linkedPositions.get(id)?.[0] ?? null,
    id,
  }));
  const links = [...sent, ...exchanged.map(({ event, id }) => ({ event, id }))];
  const linked_orderpositions = [...new Map(links.map((each) => [`${each.event}/${each.id}`, each])).values()];
  const document: unknown = JSON.parse(value.document);
  return {
    data: { ...value.data, linked_orderpositions },
    document: JSON.stringify({ ...(document as object), linked_orderpositions }),
  };
}
