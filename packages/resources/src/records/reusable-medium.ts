import { any, arrayOf, boolean, field, id, needed, object, orPlain, text } from "@tessera/schema/build";
import type { TypeOf } from "@tessera/schema/schema";
import { idOrNull, instantOrNull, lineOrNull, storableText, verbatim } from "./parts.ts";

const slugOrNull = () => lineOrNull(50);

/**
 * Ids of positions are unique per event and a medium belongs to none, so a link may name the event of its position. An
 * expanded position does, by its order.
 */
const linked = object(
  {
    id: field(id(), "The id of the position.", 1001),
    event: field(slugOrNull(), "The slug of its event.", "sampleconf"),
    order: field(
      orPlain(object({ event: field(slugOrNull(), "The slug of its event.", "sampleconf") }), ["string", "null"], {
        ...storableText,
        default: null,
      }),
      "Its order, if the position is expanded.",
      { event: "sampleconf" },
    ),
  },
  { required: ["id"] },
);

const link = orPlain(linked, ["integer", "string"], {
  description:
    'The id of a position that no other event of the organizer has, or `{"id": …, "event": slug}`; an expanded position will do.',
});

export const reusableMediumRecord = object(
  {
    id: field(id(), "Its id, unique in the organizer.", 1),
    organizer: field(slugOrNull(), "The slug of its organizer. The record says it, too.", "bigevents"),
    created: field(instantOrNull(), "When it was made."),
    updated: field(instantOrNull(), "When the shop changed it last."),
    type: field(verbatim(100), "The kind of medium.", "barcode"),
    identifier: field(verbatim(200), "What a scan of it reads. Unique in the organizer, per type.", "ABCDE12345"),
    active: field(needed(boolean({ default: true })), "It can be used."),
    expires: field(needed(instantOrNull()), "It can be used until then."),
    customer: field(lineOrNull(), "The customer's identifier in the shop.", "BRU8NB7"),
    linked_orderposition: field(
      orPlain(link, ["null"], { default: null }),
      "Of former times: counts where `linked_orderpositions` is empty.",
      1001,
    ),
    linked_orderpositions: field(
      arrayOf(link, { nullable: true, default: [], maxItems: 10_000 }),
      'The tickets that it stands for: ids, or `{"id": …, "event": slug}` where several events have a position of that id.',
      [{ id: 1001, event: "sampleconf" }],
    ),
    linked_giftcard: field(idOrNull(), "The id of its gift card in the shop."),
    notes: field(text({ nullable: true, default: null, maxLength: 1_000_000 }), "Notes for staff.", "Wristband"),
    info: field(any({ default: null }), "Values of the shop's own.", {}),
  },
  { required: ["id", "type", "identifier"] },
);

/** A position that a record links to. */
export type SentLink = TypeOf<typeof link>;
