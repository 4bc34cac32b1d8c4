import { itemRecord } from "@tessera/resources/records/item";
import { subeventRecord } from "@tessera/resources/records/subevent";
import {
  arrayOf,
  boolean,
  choice,
  constant,
  id,
  integer,
  mapOf,
  object,
  oneKindOf,
  plain,
  text,
} from "@tessera/schema/build";
import type { JsonSchema, Properties, Schema } from "@tessera/schema/schema";
import { record } from "../../http/answers.ts";
import { question } from "../catalogue/schema.ts";

const moment = (description: string) => text({ nullable: true, description });

const deleted = boolean({ description: "Always true: it is gone, and there is no `data`." });

/** A line of an entity: with `data`, as it is now, or `deleted`. */
function line<const K extends string, P extends Properties>(
  { title, kind, keys }: { readonly title: string; readonly kind: K; readonly keys: P },
  data: Schema,
) {
  return record(title, { kind: constant(kind), ...keys, data, deleted }, { optional: ["data", "deleted"] });
}

const ofEvent = { event: text({ description: "The slug of its event." }), id: id() };

/** An object with these keys, some of which depend on how codes are shown. */
function dataOf<P extends Properties>(properties: P, optional: readonly (keyof P & string)[] = []) {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return object(properties, { required, closed: true });
}

/** A code, or with `codes=hashed` its hash. */
const hashed = text({ description: "With `codes=hashed`, in place of the code: its hash, in hexadecimal." });
const clear = { description: "Without `codes=hashed`." };

const event = dataOf({
  name: mapOf(text(), { description: "By language." }),
  timezone: text({ description: "An IANA name." }),
  locale: text(),
  has_subevents: boolean(),
  date_from: moment("ISO 8601."),
  date_to: moment("ISO 8601."),
  date_admission: moment("ISO 8601."),
  valid_keys: arrayOf(text(), { description: "Public keys of signed codes." }),
  reusable_media_usage_enforced: boolean(),
});

const subevent = record("FeedSubeventData", subeventRecord.properties);

const item = record("FeedItemData", itemRecord.properties);

const list = dataOf({
  name: text(),
  all_products: boolean(),
  limit_products: arrayOf(id()),
  subevent: id({ nullable: true }),
  include_pending: boolean(),
  allow_multiple_entries: boolean(),
  allow_entry_after_exit: boolean(),
  rules: plain(["object"], { description: "JSON Logic, as in `checkinlists/`." }),
  exit_all_at: moment("ISO 8601."),
  addon_match: boolean(),
  ignore_in_statistics: boolean(),
  consider_tickets_used: boolean(),
  soft_limit: integer({ nullable: true }),
  hard_limit: integer({ nullable: true }),
  takes_from: arrayOf(id()),
});

const ticket = dataOf(
  {
    secret: text(clear),
    code: hashed,
    item: id(),
    variation: id({ nullable: true }),
    subevent: id({ nullable: true }),
    addon_to: id({ nullable: true }),
    order_status: choice(["pending", "paid", "expired", "canceled"]),
    valid_if_pending: boolean(),
    require_approval: boolean(),
    canceled: boolean(),
    blocked: boolean(),
    valid_from: moment("ISO 8601."),
    valid_until: moment("ISO 8601."),
    locale: text(),
    require_attention: boolean(),
    answered: arrayOf(id(), { description: "Ids of questions." }),
    order: text(clear),
    positionid: integer(clear),
    pseudonymization_id: text({ ...clear, nullable: true }),
    seat: text({ ...clear, nullable: true }),
    attendee_name: text({ ...clear, nullable: true }),
    checkin_text: text({ ...clear, nullable: true }),
  },
  ["secret", "code", "order", "positionid", "pseudonymization_id", "seat", "attendee_name", "checkin_text"],
);

const type = ["entry", "exit"] as const;

const presence = dataOf({
  entries: integer(),
  last_type: choice(type, { nullable: true }),
  last_datetime: moment("ISO 8601."),
  scans: arrayOf(
    dataOf({
      type: choice(type),
      datetime: text(),
      gate: id({ nullable: true }),
      device: id({ nullable: true, description: "`device_id` of the device." }),
    }),
    { description: "The newest 100 that succeeded, newest first." },
  ),
});

const revoked = dataOf({ secret: text(clear), code: hashed, ticket: id({ nullable: true }) }, ["secret", "code"]);

const blocked = dataOf({ secret: text(clear), code: hashed, blocked: boolean() }, ["secret", "code"]);

const medium = dataOf(
  {
    type: text(),
    identifier: text(clear),
    code: hashed,
    active: boolean(),
    expires: moment("ISO 8601."),
    tickets: arrayOf(dataOf(ofEvent), { description: "Those of the events that are followed." }),
  },
  ["identifier", "code"],
);

const ofTicket = { ...ofEvent, list: id() };

/** One line of the feed. */
const feedLine: JsonSchema = {
  title: "FeedLine",
  description: "An entity as it is now, or that it is gone; or, as `cursor`, that all lines before it are yours.",
  ...oneKindOf("kind", [
    line(
      { title: "FeedEvent", kind: "event", keys: { ...ofEvent, id: plain(["integer"], { description: "Always 0." }) } },
      event,
    ),
    line({ title: "FeedSubevent", kind: "subevent", keys: ofEvent }, subevent),
    line({ title: "FeedItem", kind: "item", keys: ofEvent }, item),
    line({ title: "FeedQuestion", kind: "question", keys: ofEvent }, question),
    line({ title: "FeedList", kind: "list", keys: ofEvent }, list),
    line({ title: "FeedTicket", kind: "ticket", keys: ofEvent }, ticket),
    line({ title: "FeedPresence", kind: "presence", keys: ofTicket }, presence),
    line({ title: "FeedRevokedCode", kind: "revoked", keys: ofEvent }, revoked),
    line({ title: "FeedBlockedCode", kind: "blocked", keys: ofEvent }, blocked),
    line({ title: "FeedMedium", kind: "medium", keys: { id: id() } }, medium),
    record("FeedCursor", { kind: constant("cursor"), cursor: text() }),
  ]),
};

/** Lines with line feeds between them. */
export const feedLines: JsonSchema = { type: "string", contentMediaType: "application/json", contentSchema: feedLine };
