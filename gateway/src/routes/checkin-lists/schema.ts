import type { TypeOf } from "@tessera/kit/schema";
import { any, arrayOf, boolean, id, instant, integer, object, partial, plain, text } from "@tessera/kit/schema-build";
import { record } from "../../answers.ts";
import { bodyOf } from "../../route.ts";

const name = text({ blank: false, maxLength: 190, description: "Internal name." });

const optional = {
  all_products: boolean({ default: true, description: "Covers all products; `limit_products` is ignored then." }),
  limit_products: arrayOf(id(), { default: [], maxItems: 10_000, description: "Ids of the products on the list." }),
  subevent: id({ nullable: true, default: null, description: "Date of an event series; null: all dates." }),
  include_pending: boolean({ default: false, description: "Includes tickets of orders that are not paid yet." }),
  allow_multiple_entries: boolean({ default: false, description: "Repeated scans are stored without a warning." }),
  allow_entry_after_exit: boolean({ default: true, description: "A scan is valid when the one before was an exit." }),
  rules: any({ nullable: false, default: {}, description: "Custom check-in logic. Not a stable interface." }),
  exit_all_at: instant({
    nullable: true,
    default: null,
    description: "Time of an automatic exit; moves on by a day each time.",
  }),
  addon_match: boolean({
    default: false,
    description: "A ticket can be redeemed by scanning its parent, where that is unambiguous.",
  }),
  ignore_in_statistics: boolean({ default: false, description: "Left out of most reporting." }),
  consider_tickets_used: boolean({
    default: true,
    description: "A scan on this list counts as use of the ticket elsewhere.",
  }),
};

const fields = object({ name, ...optional }, { required: ["name"] });

/** The body of POST and PUT: what is left out gets its default. */
export const listBody = bodyOf({ title: "CheckinListBody", ...fields });

const patchable = partial(fields);

export const listPatch = bodyOf({ title: "CheckinListPatch", ...patchable }, { missingBooleans: "absent" });

export type ListPatch = TypeOf<typeof patchable>;

const { name: nameShown, ...fieldsShown } = patchable.properties;

/** A list as it is answered. */
export const listShown = record("CheckinList", {
  id: id(),
  name: nameShown,
  position_count: integer({ description: "Tickets that match the list." }),
  checkin_count: integer({ description: "Tickets with at least one successful entry on the list." }),
  ...fieldsShown,
  subevent: plain(["integer", "object", "null"], {
    description: "Date of an event series; null: all dates. With `expand=subevent` the date itself.",
  }),
});

/** The same in a page, where a client may have left out fields. */
export const listInPage = { ...listShown, title: "CheckinListInPage", required: [] };

const counts = { checkin_count: integer(), position_count: integer() };

export const statusShown = record("CheckinListStatus", {
  ...counts,
  inside_count: integer({ description: "Tickets whose latest successful scan is an entry." }),
  event: object({ name: text() }, { required: ["name"], closed: true }),
  items: arrayOf(
    record("CheckinListStatusItem", {
      id: id(),
      name: text(),
      admission: boolean(),
      ...counts,
      variations: arrayOf(record("CheckinListStatusVariation", { id: id(), value: text(), ...counts })),
    }),
  ),
});
