import { checkinList } from "@tessera/resources/checkin-list";
import { arrayOf, boolean, id, integer, object, partial, plain, text } from "@tessera/schema/build";
import { record } from "../../http/answers.ts";
import { bodyOf } from "../../http/route.ts";

/** The body of POST and PUT: missing fields get their defaults. */
export const listBody = bodyOf({ title: "CheckinListBody", ...checkinList });

/** The same fields without defaults: fields missing in a PATCH keep their values. */
const patchable = partial(checkinList);

export const listPatch = bodyOf({ title: "CheckinListPatch", ...patchable }, { missingBooleans: "absent" });

const { name, ...fieldsShown } = patchable.properties;

export const listShown = record("CheckinList", {
  id: id(),
  name,
  position_count: integer({ description: "Tickets that match the list." }),
  checkin_count: integer({ description: "Tickets with at least one successful entry on the list." }),
  ...fieldsShown,
  subevent: plain(["integer", "object", "null"], {
    description: "Date of an event series; null: all dates. With `expand=subevent` the date itself.",
  }),
});

/** The same in a page, where fields may be excluded. */
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
