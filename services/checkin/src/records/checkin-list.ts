import type { RecordKind } from "@tessera/records/kind";
import { checkinList as listSchema } from "@tessera/resources/checkin-list";
import { id, object } from "@tessera/schema/build";
import { compileSchema } from "@tessera/schema/schema";
import { checkListFields, checkListReferences } from "../domain/check-list.ts";
import type { CheckinList } from "../domain/list.ts";
import { noteListsChanged } from "../store/list-changes.ts";
import { putLists, removeList } from "../store/lists.ts";
import { fromListFields, listFields } from "../wire/lists.ts";
import type { Known, Mentioned } from "./known.ts";

const schema = object({ id: id(), ...listSchema.properties }, { required: ["id", "name"] });

const check = compileSchema(schema);

/** A check-in list, with its id. */
export const checkinList: RecordKind<CheckinList, Mentioned, Known> = {
  name: "checkin_list",
  schema,
  read(data) {
    const checked = check(data);
    if (!checked.ok) return checked;
    const list = { id: checked.value.id, ...fromListFields(listFields.toMessage(checked.value)) };
    const errors = checkListFields(list);
    return Object.keys(errors).length === 0 ? { ok: true, value: list } : { ok: false, errors };
  },
  keyOf: ({ id }) => String(id),
  idsOf: ({ id }) => [["list_id", id]],
  mention({ limitProducts, subevent }, { items, subevents }) {
    for (const item of limitProducts) items.add(item);
    if (subevent !== null) subevents.add(subevent);
  },
  async refuse(_tx, { values, known }) {
    const checked = values.map((list) => [list, checkListReferences(list, known)] as const);
    return new Map(checked.filter(([, errors]) => Object.keys(errors).length > 0));
  },
  async store(tx, { scope, values }) {
    if (await putLists(tx, scope, values)) await noteListsChanged(tx, scope);
  },
  async remove(tx, { scope, keys }) {
    const removed: boolean[] = [];
    for (const key of keys) removed.push(await removeList(tx, { ...scope, id: Number(key) }));
    if (removed.includes(true)) await noteListsChanged(tx, scope);
  },
};
