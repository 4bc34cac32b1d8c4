import type { Tx } from "@tessera/kit/pg/database";
import { type Asked, writeStatements } from "@tessera/testkit/write-statements";
import { expect, it } from "vitest";
import { readQuotas } from "./capacity.ts";
import { upsert as upsertDocuments } from "./catalogue-tables.ts";
import { countOrdersWith } from "./count-personal-data.ts";
import { findByPrefix, page, touchDevicesAt, upsert as upsertCredentials } from "./credential-rows.ts";
import { countDocuments, findDocument, lacksOne, pageDocuments } from "./documents.ts";
import { countRows, nextEndings } from "./erase-documents.ts";
import { deleteNext } from "./event-contents.ts";
import { readAnswerable, readFirst, readPositionFields } from "./following-orders.ts";
import { endHolds, lockHeld } from "./holds.ts";
import { codesBehind, countOrders, pageCodes, readAsOf, withoutTests } from "./order-pages.ts";
import { readOrders, readStatesOf } from "./order-reads.ts";
import { deletePositions, find, type PositionRow, upsert } from "./positions.ts";
import { nextKeys } from "./rebuild-reads.ts";
import { findMentioned, nothingMentioned } from "./references.ts";
import { findSeatStates } from "./seats.ts";
import { findNamed, findOfPositions } from "./stored-answer-files.ts";
import { readPositionsOfOrders } from "./ticket-data.ts";
import { findTickets } from "./tickets.ts";
import { findUsers, type Referable } from "./usage.ts";
import { forgetClaims, putClaims, readLedger } from "./voucher-claim-rows.ts";
import { lockRecords, readUses, recountAllUses } from "./voucher-use-rows.ts";

const scope = { organizer: "org", event: "fest" };
const key = { ...scope, id: 1 };
const start = { code: "A" };
const position = {
  id: 1,
  orderCode: "A",
  voucher: 1,
  takenAs: "paid",
  state: new Uint8Array(),
} as object as PositionRow;
const devices = { organizer: "org", kind: "device" } as const;
const some = { among: ["fest"], changedSince: 0, search: "a" };
const coming = { ...some, endsAfter: 0, live: true };
const firstPage = { ordering: [], limit: 50, offset: 0 };
const changes = { ...scope, changedSince: 0, orOfPositions: [1] };
const referable: readonly Referable[] = [
  "organizer",
  "sales_channel",
  "gate",
  "subevent",
  "tax_rule",
  "category",
  "item",
  "variation",
  "question",
  "seat",
];

const statements: Readonly<Record<string, readonly Asked<Tx>[]>> = {
  "stored-answer-files": [
    ["findOfPositions", (db) => findOfPositions(db, scope, [1])],
    ["findNamed", (db) => findNamed(db, ["a"])],
  ],
  capacity: [["readQuotas", (db) => readQuotas(db, scope, { ids: [1], subevents: [null] })]],
  "catalogue-tables": [
    ["upsert, of an organizer", (tx) => upsertDocuments(tx, "gate", { scope, rows: [] })],
    ["upsert, of an event", (tx) => upsertDocuments(tx, "item", { scope, rows: [] })],
  ],
  "count-personal-data": [
    ["countOrdersWith", (db) => countOrdersWith(db, scope, [{ kind: "order_emails", path: "email" }])],
  ],
  "credential-rows": [
    ["upsert", (tx) => upsertCredentials(tx, { ...devices, rows: [] })],
    ["touchDevicesAt", (tx) => touchDevicesAt(tx, "org", [1])],
    ["findByPrefix", (db) => findByPrefix(db, { ...devices, prefix: "1" })],
    ["page", (db) => page(db, { ...devices, limit: 50, offset: 0 })],
  ],
  documents: [
    ["countDocuments, events", (db) => countDocuments(db, "event", { ...coming, ...scope, event: "" })],
    ["countDocuments, quotas", (db) => countDocuments(db, "quota", { ...scope, subevent: 3, items: [1] })],
    ["countDocuments, dates", (db) => countDocuments(db, "subevent", { ...coming, ...scope, active: true })],
    [
      "countDocuments, media",
      (db) => countDocuments(db, "reusable_medium", { ...some, ...scope, type: "nfc_uid", identifier: "a" }),
    ],
    ["lacksOne", (db) => lacksOne(db, "item", { ...scope, ids: [1] })],
    ["pageDocuments, events", (db) => pageDocuments(db, "event", { ...scope, ...firstPage })],
    ["pageDocuments, in an order", (db) => pageDocuments(db, "gate", { ...scope, ...firstPage, ordering: ["-name"] })],
    ["findDocument", (db) => findDocument(db, "item", { ...scope, id: 1 })],
  ],
  "erase-documents": [
    ["countRows, of records", (db) => countRows(db, "answer_file", scope)],
    ["countRows, of gates", (db) => countRows(db, "gate_answer", scope)],
    ["nextEndings", (db) => nextEndings(db, { organizer: "org", after: "", limit: 100 })],
  ],
  "event-contents": [
    ["deleteNext, the first positions", (tx) => deleteNext(tx, "position", { scope, after: undefined, limit: 100 })],
    ["deleteNext, other orders", (tx) => deleteNext(tx, "order", { scope, after: "A", limit: 100 })],
  ],
  "following-orders": [
    ["readFirst", (tx) => readFirst(tx, scope, { codes: ["A"], before: undefined })],
    ["readFirst, placed before", (tx) => readFirst(tx, scope, { codes: ["A"], before: 0 })],
    ["readPositionFields, within an order", (db) => readPositionFields(db, scope, { ...start, position: 1 }, ["item"])],
    ["readAnswerable", (db) => readAnswerable(db, scope, start)],
  ],
  holds: [
    ["lockHeld", (tx) => lockHeld(tx, [key])],
    ["endHolds", (tx) => endHolds(tx, [{ ...scope, voucher: 1, changed: 1 }])],
  ],
  "order-pages": [
    ["withoutTests", (db) => withoutTests(db, { ...changes, testmode: false })],
    ["countOrders", (db) => countOrders(db, changes)],
    ["pageCodes", (tx) => pageCodes(tx, changes, { ordering: [], limit: 50, offset: 0, count: 1 })],
    [
      "codesBehind",
      (tx) => codesBehind(tx, { ...scope, orOfPositions: [] }, { ordering: [], place: ["2026", "A"], limit: 51 }),
    ],
    ["readAsOf, during a change", (db) => readAsOf(db, scope), { at: null }],
  ],
  "order-reads": [
    ["readOrders", (db) => readOrders(db, scope, { codes: ["A"], mostBytes: 1 })],
    ["readStatesOf", (db) => readStatesOf(db, scope, { ids: [1], least: 1, mostBytes: 1 })],
  ],
  positions: [
    ["upsert", (tx) => upsert(tx, scope, { rows: [position], since: new Map() })],
    ["find", (db) => find(db, [key])],
    ["deletePositions", (tx) => deletePositions(tx, scope, [1])],
  ],
  "rebuild-reads": [["nextKeys", (tx) => nextKeys(tx, "position", { after: ["org", "fest", "1"], limit: 100 })]],
  references: [
    [
      "findMentioned",
      (tx) => findMentioned(tx, scope, nothingMentioned()),
      { being_removed: null, sales_channels: [] },
    ],
  ],
  seats: [["findSeatStates", (tx) => findSeatStates(tx, scope, [{ guid: "A-1", subevent: null }])]],
  "ticket-data": [["readPositionsOfOrders", (db) => readPositionsOfOrders(db, scope, { orders: ["A"], mostBytes: 1 })]],
  tickets: [["findTickets", (db) => findTickets(db, [{ ...scope, secret: "a" }], { most: 100 })]],
  usage: referable.map((what) => [`findUsers, ${what}`, (tx) => findUsers(tx, what, { scope, keys: ["1"] })]),
  "voucher-claim-rows": [
    ["forgetClaims", (tx) => forgetClaims(tx, [key])],
    ["putClaims", (tx) => putClaims(tx, [{ ...key, revision: 1, blocks: true, recordedUses: 1, countedAsOf: 1 }])],
    ["readLedger", (db) => readLedger(db, [scope], [{ ...scope, voucher: 1 }])],
  ],
  "voucher-use-rows": [
    ["readUses", (tx) => readUses(tx, scope, [1])],
    ["lockRecords", (tx) => lockRecords(tx, scope, [1])],
    ["recountAllUses", (tx) => recountAllUses(tx)],
  ],
};

it.each(Object.entries(statements))("%s asks for its reviewed statements", async (file, asked) => {
  await expect(await writeStatements(asked)).toMatchFileSnapshot(`statements/${file}.sql`);
});
