import type { RecordKind } from "@tessera/records/kind";
import { notKnown, ofElement, refuseEach } from "@tessera/records/validate";
import { checkinListRecord } from "@tessera/resources/checkin-list";
import { compileSchema } from "@tessera/schema/schema";
import { firstIdMadeHere } from "@tessera/values";
import { checkRulesText, rulesNothing } from "../domain/check-list.ts";
import type { CheckinList } from "../domain/list.ts";
import { noteListsChanged } from "../store/list-changes.ts";
import { lockLists, putLists, removeList, type StoredList } from "../store/lists.ts";
import { fromListFields, listFields } from "../wire/list-messages.ts";
import type { Known, Mentioned } from "./known.ts";

const check = compileSchema(checkinListRecord, { namesParts: true });

const madeHere = `Lists with ids from ${firstIdMadeHere} on were made here; no record may bring or replace one.`;

const withoutEffect = "These are no rules, as they are no object: the list is open to all of its tickets.";

const notLimited =
  "It has no effect: `all_products` is true, as it is where it is left out. To limit the list, send false.";

/** A check-in list, with its id. */
export const checkinList: RecordKind<CheckinList, Mentioned, Known> = {
  name: "checkin_list",
  schema: checkinListRecord,
  read(data, leftOut = [], wrong = []) {
    const checked = check(data);
    if (!checked.ok) return checked;
    const { limit_products: products } = checked.value;
    const namesSome = products.length > 0 || leftOut.some(({ list }) => list === "limit_products");
    const isLimited = wrong.includes("all_products") && namesSome;
    const sent = isLimited ? { ...checked.value, all_products: false } : checked.value;
    const list = { id: sent.id, ...fromListFields(listFields.toMessage(sent)) };
    return list.id < firstIdMadeHere ? { ok: true, value: list } : { ok: false, errors: { id: [madeHere] } };
  },
  keyOf: ({ id }) => String(id),
  mention({ limitProducts, subevent }, { items, subevents }) {
    for (const item of limitProducts) items.add(item);
    if (subevent !== null) subevents.add(subevent);
  },
  async refuse(_tx, { values, known }) {
    return refuseEach(values, ({ rules, subevent }, addError) => {
      for (const message of Object.values(checkRulesText(rules)).flat()) addError("rules", message);
      if (subevent !== null && !known.subevents.has(subevent)) addError("subevent", notKnown(`subevent ${subevent}`));
    });
  },
  doubt: ({ values, known }) =>
    refuseEach(values, ({ id, allProducts, limitProducts, rules, softLimit, hardLimit, takesFrom }, addWarning) => {
      if (takesFrom.includes(id))
        addWarning("takes_from", "A list cannot take visitors from itself: that is left out.");
      if (isAboveHard({ softLimit, hardLimit })) addWarning("soft_limit", "It is above the hard limit, and left out.");
      if (rulesNothing(rules)) addWarning("rules", withoutEffect);
      if (allProducts && limitProducts.length > 0) addWarning("limit_products", notLimited);
      for (const [index, item] of limitProducts.entries()) {
        if (!known.items.has(item)) addWarning("limit_products", ofElement(index, notKnown(`item ${item}`)));
      }
    }),
  async store(tx, { scope, values }) {
    const held = new Map(
      (
        await lockLists(
          tx,
          values.map(({ id }) => ({ ...scope, id })),
        )
      ).map((list) => [list.id, list]),
    );
    const rows = values.map((list) => toStoredList(list, held.get(list.id)));
    if (await putLists(tx, scope, rows)) await noteListsChanged(tx, scope);
  },
  async remove(tx, { scope, keys }) {
    const removed: boolean[] = [];
    for (const key of keys) removed.push(await removeList(tx, { ...scope, id: Number(key) }));
    if (removed.includes(true)) await noteListsChanged(tx, scope);
  },
};

/** A record with an unchanged automatic exit does not reset the daily moves of that exit. */
function toStoredList(list: CheckinList, held: StoredList | undefined): StoredList {
  const { exitAllAt: exitSet, takesFrom, softLimit } = list;
  const sound = {
    ...list,
    takesFrom: takesFrom.filter((id) => id !== list.id),
    softLimit: isAboveHard(list) ? null : softLimit,
  };
  return held?.exitSet === exitSet ? { ...sound, exitSet, exitAllAt: held.exitAllAt } : { ...sound, exitSet };
}

function isAboveHard({ softLimit, hardLimit }: Pick<CheckinList, "softLimit" | "hardLimit">): boolean {
  return softLimit !== null && hardLimit !== null && softLimit > hardLimit;
}
