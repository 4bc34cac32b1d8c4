import { topics } from "@tessera/protos/topics";
import { compileReader, type Reading } from "@tessera/records/read";
import { idOrNull, instantOrNull, lineOrNull, storableText, verbatim } from "@tessera/records/schema-parts";
import { refuseTogether } from "@tessera/records/validate";
import { any, arrayOf, boolean, id, object, orPlain, text } from "@tessera/schema/build";
import type { TypeOf } from "@tessera/schema/schema";
import { maxImportedId } from "@tessera/values";
import type { Known } from "../domain/known.ts";
import { mediumKey, refuseMedia } from "../domain/refuse-media.ts";
import { catalogueKind } from "./catalogue-kind.ts";
import type { RecordKind } from "./kind.ts";

/** A position of one of the organizer's events; null until its event is looked up. */
interface Link {
  event: string | null;
  id: number;
}

const slugOrNull = () => lineOrNull(50);

/**
 * Ids of positions are unique per event and a medium belongs to none, so a link may name the event of its position. An
 * expanded position does, by its order.
 */
const linked = object(
  {
    id: id(),
    event: slugOrNull(),
    order: orPlain(object({ event: slugOrNull() }), ["string", "null"], { ...storableText, default: null }),
  },
  { required: ["id"] },
);

const link = orPlain(linked, ["integer", "string"], {
  description:
    'The id of a position that no other event of the organizer has, or `{"id": …, "event": slug}`; an expanded position will do.',
});

const schema = object(
  {
    id: id(),
    organizer: slugOrNull(),
    created: instantOrNull(),
    updated: instantOrNull(),
    type: verbatim(100),
    identifier: verbatim(200),
    active: boolean({ default: true }),
    expires: instantOrNull(),
    customer: lineOrNull(),
    linked_orderposition: orPlain(link, ["null"], {
      default: null,
      description: "Of former times: counts where `linked_orderpositions` is empty.",
    }),
    linked_orderpositions: arrayOf(link, { nullable: true, default: [], maxItems: 10_000 }),
    linked_giftcard: idOrNull(),
    notes: text({ nullable: true, default: null, maxLength: 1_000_000 }),
    info: any({ default: null }),
  },
  { required: ["id", "type", "identifier"] },
);

type Medium = ReturnType<typeof complete>;

const read = compileReader(schema, {
  complete,
  rules: { linked_orderposition: linkRule, "linked_orderpositions.*": linkRule },
  omit: ["linked_orderposition"],
});

const base = catalogueKind({
  table: "reusable_medium",
  schema,
  read,
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
  async refuse(_tx, { scope, values, known }) {
    return refuseTogether(values, (left) => refuseMedia(left, { organizer: scope.organizer, known }));
  },
  async store(tx, run) {
    await base.store(tx, { ...run, values: run.values.map((value) => withEvents(value, run.known)) });
  },
};

function linkRule(value: unknown): string | undefined {
  if (typeof value === "object") return undefined;
  const id = typeof value === "string" && /^\d{1,16}$/.test(value) ? Number(value) : value;
  const isId = Number.isInteger(id) && Number(id) >= 1 && Number(id) <= maxImportedId;
  return isId ? undefined : "Expected the id of a position, or a position with its event.";
}

function complete({ linked_orderposition, linked_orderpositions, ...data }: TypeOf<typeof schema>) {
  const several = linked_orderpositions ?? [];
  const sent = several.length === 0 && linked_orderposition !== null ? [linked_orderposition] : several;
  return { ...data, linked_orderpositions: sent.map(toLink) };
}

function toLink(sent: TypeOf<typeof link>): Link {
  if (typeof sent !== "object") return { event: null, id: Number(sent) };
  const { id, event, order } = sent;
  return { event: event ?? (typeof order === "object" ? (order?.event ?? null) : null), id };
}

/** Adds the events to links that came without; removes repeated links. */
function withEvents(value: Reading<Medium>, known: Known): Reading<Medium> {
  const links = value.data.linked_orderpositions.map(({ event, id }) => ({
    event: event ?? known.linkedPositions.get(id)?.[0] ?? null,
    id,
  }));
  const linked_orderpositions = [...new Map(links.map((each) => [`${each.event}/${each.id}`, each])).values()];
  const document: unknown = JSON.parse(value.document);
  return {
    data: { ...value.data, linked_orderpositions },
    document: JSON.stringify({ ...(document as object), linked_orderpositions }),
  };
}
