import type { TypeOf } from "@tessera/kit/schema";
import { any, arrayOf, boolean, id, object, orPlain, text } from "@tessera/kit/schema-build";
import { topics } from "@tessera/protos/topics";
import { maxImportedId } from "@tessera/values";
import * as catalogue from "../store/catalogue.ts";
import type { Known } from "../store/references.ts";
import { catalogueKind } from "./catalogue-kind.ts";
import { type Complain, notKnown, ofElement, type RecordKind, type Run, refuseTogether } from "./kind.ts";
import { compileReader, type Reading } from "./read.ts";
import { idOrNull, instantOrNull, lineOrNull, storableText, verbatim } from "./schema-parts.ts";

/** A position of one of the organizer's events; null until it is looked up which. */
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
  belongsTo: "organizer",
  schema,
  key: "id",
  read,
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

/** A chip or card that stands for tickets of its organizer's events. */
export const reusableMedium: RecordKind<Reading<Medium>> = {
  ...base,
  idsOf: ({ data }) => [["reusable_medium_id_seq", data.id]],
  mention({ data }, mentioned) {
    mentioned.media.add(data.id);
    mentioned.mediumCodes.push(data);
    for (const { id } of data.linked_orderpositions) mentioned.linkedPositions.add(id);
  },
  async refuse(_tx, { scope, values, known }) {
    return refuseTogether(values, (left) => {
      const examine = examiner(left, known);
      return (value, complain) => {
        examine(value, complain);
        const { organizer } = value.data;
        if (organizer !== null && organizer !== scope.organizer) {
          complain("organizer", "This is not the organizer that the record names.");
        }
      };
    });
  },
  async store(tx, run) {
    // Media may swap their identifiers, which no two have at any time: they make room first.
    const keys = findRenamed(run).map(({ data }) => String(data.id));
    if (keys.length > 0) await catalogue.remove(tx, "reusable_medium", { scope: run.scope, keys });
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

/** Puts the events into links that came without, each link once. */
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

function keyOf({ type, identifier }: { readonly type: string; readonly identifier: string }): string {
  return JSON.stringify([type, identifier]);
}

function findRenamed({ values, known }: Run<Reading<Medium>>): Reading<Medium>[] {
  return values.filter(({ data }) => {
    const before = known.media.get(data.id);
    return before !== undefined && keyOf(before) !== keyOf(data);
  });
}

/** Examines media as they would be together, with those that stay as they are. */
function examiner(left: readonly Reading<Medium>[], known: Known) {
  const sent = new Set(left.map(({ data }) => data.id));
  const owners = new Map<string, number>();
  for (const [id, medium] of known.media) if (!sent.has(id)) owners.set(keyOf(medium), id);
  for (const { data } of left) if (!owners.has(keyOf(data))) owners.set(keyOf(data), data.id);

  return ({ data }: Reading<Medium>, complain: Complain) => {
    const owner = owners.get(keyOf(data));
    if (owner !== data.id) complain("identifier", `medium ${owner} has this identifier`);
    for (const [index, { event, id }] of data.linked_orderpositions.entries()) {
      const events = known.linkedPositions.get(id) ?? [];
      const exists = event === null ? events.length > 0 : events.includes(event);
      if (!exists) complain("linked_orderpositions", ofElement(index, notKnown(`position ${id}`)));
      else if (event === null && events.length > 1) {
        const form = `{"id": ${id}, "event": …}`;
        complain(
          "linked_orderpositions",
          ofElement(index, `several events have a position ${id}; name its event: ${form}`),
        );
      }
    }
  };
}
