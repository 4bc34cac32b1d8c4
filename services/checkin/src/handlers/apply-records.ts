import type { Db, Queryable } from "@tessera/kit/pg/database";
import { compileSchema } from "@tessera/kit/schema";
import { id, object } from "@tessera/kit/schema-build";
import type {
  ApplyRecordsRequest,
  ApplyRecordsResponse,
  Record as RecordOnWire,
  RejectedRecord,
} from "@tessera/protos/gen/ticketing/records/v1/records";
import { checkinList } from "@tessera/resources/checkin-list";
import { isSlug } from "@tessera/values";
import { checkListFields, type ListErrors } from "../domain/check-list.ts";
import type { CheckinList } from "../domain/list.ts";
import type { CheckinEvents } from "../events.ts";
import { type EventInfo, findEvent } from "../store/events.ts";
import type { EventKey } from "../store/keys.ts";
import { noteListsChanged } from "../store/list-changes.ts";
import { lockListIds, putList, raiseListIds, removeList } from "../store/lists.ts";
import { fromListFields, listFields } from "../wire/lists.ts";
import { checkAgainstEvent } from "./create-checkin-list.ts";

/** A list in the shape of the API, as records bring it. */
const readList = compileSchema(object({ id: id(), ...checkinList.properties }, { required: ["id", "name"] }));

const readKey = compileSchema(object({ id: id() }, { required: ["id"] }));

/** What a record comes to: a list to store, the id of one to remove, or what is wrong with it. */
type Reading =
  | { readonly kind: "list"; readonly list: CheckinList }
  | { readonly kind: "removal"; readonly id: number }
  | { readonly kind: "wrong"; readonly errors: ListErrors };

/**
 * Takes over check-in lists from records, with their ids, all in one transaction.
 *
 * What a list names must be in our copy of the event. That copy follows the records by way of the bus: whoever sends a
 * list waits until its event has arrived here.
 */
export async function applyRecords(
  { records }: ApplyRecordsRequest,
  { db, events }: { readonly db: Db; readonly events: CheckinEvents },
): Promise<ApplyRecordsResponse> {
  const read = records.map((record) => ({ record, reading: readRecord(record) }));
  if (read.every(({ reading }) => reading.kind === "wrong")) return { rejected: read.flatMap(toRejections) };
  const readings = await db.transaction(async (tx) => {
    await lockListIds(tx);
    const checked = await checkAll(tx, read);
    await raiseListIds(
      tx,
      checked.flatMap(({ reading }) => (reading.kind === "list" ? [reading.list.id] : [])),
    );
    const changed: EventKey[] = [];
    for (const { record, reading } of checked) {
      const { organizer, event } = record;
      const isChange =
        (reading.kind === "list" && (await putList(tx, { organizer, event }, reading.list))) ||
        (reading.kind === "removal" && (await removeList(tx, { organizer, event, id: reading.id })));
      if (isChange) changed.push({ organizer, event });
    }
    await noteListsChanged(tx, changed);
    return checked;
  });
  for (const { record, reading } of readings) {
    if (reading.kind === "wrong") continue;
    const { organizer, event, deleted } = record;
    events.listImported({ organizer, event, id: reading.kind === "list" ? reading.list.id : reading.id }, { deleted });
  }
  return { rejected: readings.flatMap(toRejections) };
}

interface ReadRecord {
  readonly record: RecordOnWire;
  readonly reading: Reading;
}

/** Refuses lists that name what their event does not have. */
async function checkAll(tx: Queryable, read: readonly ReadRecord[]): Promise<ReadRecord[]> {
  const known = new Map<string, EventInfo | undefined>();
  const checked: ReadRecord[] = [];
  for (const { record, reading } of read) {
    if (reading.kind !== "list") {
      checked.push({ record, reading });
      continue;
    }
    const key = `${record.organizer}/${record.event}`;
    if (!known.has(key)) known.set(key, await findEvent(tx, record));
    const event = known.get(key);
    const errors =
      event === undefined
        ? { non_field_errors: ["The event is not known; its record must come first."] }
        : await checkAgainstEvent(tx, record, { event, fields: reading.list });
    checked.push({ record, reading: Object.keys(errors).length === 0 ? reading : wrong(errors) });
  }
  return checked;
}

function readRecord(record: RecordOnWire): Reading {
  if (record.kind !== "checkin_list") {
    return wrong({ kind: ["Check-in takes records of the kind checkin_list; this one belongs to another service."] });
  }
  if (!isSlug(record.organizer) || !isSlug(record.event)) {
    return wrong({ non_field_errors: ["A check-in list belongs to an event; name organizer and event."] });
  }
  const data = parse(record.data);
  if (data === undefined) return wrong({ non_field_errors: ["The data is not valid JSON."] });
  if (record.deleted) {
    const key = readKey(data);
    return key.ok ? { kind: "removal", id: key.value.id } : wrong(key.errors);
  }
  const checked = readList(data);
  if (!checked.ok) return wrong(checked.errors);
  const list = { id: checked.value.id, ...fromListFields(listFields.toMessage(checked.value)) };
  const errors = checkListFields(list);
  return Object.keys(errors).length === 0 ? { kind: "list", list } : wrong(errors);
}

function wrong(errors: ListErrors): Reading {
  return { kind: "wrong", errors };
}

function parse(data: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data));
  } catch {
    return undefined;
  }
}

function toRejections({ record, reading }: ReadRecord): RejectedRecord[] {
  if (reading.kind !== "wrong") return [];
  const errors = Object.entries(reading.errors).map(([field, messages]) => ({ field, messages }));
  return [{ line: record.line, errors }];
}
