import { type ErasedUntil, findErasedUntil } from "@tessera/events/personal-data/erased-until";
import type { Tx } from "@tessera/kit/pg/database";
import { inSlices } from "@tessera/kit/waiting/in-slices";
import { Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { entityKey, topics } from "@tessera/protos/topics";
import type { LeftOut } from "@tessera/records/kind";
import { compileReader, type Reading } from "@tessera/records/read";
import { type AddError, refuseEach } from "@tessera/records/validate";
import { orderRecord } from "@tessera/resources/records/order";
import { isDataUrl } from "@tessera/sent-files/data-url";
import { firstIdMadeHere, isObject } from "@tessera/values";
import { takenAs } from "../domain/availability.ts";
import type { Known } from "../domain/known.ts";
import { nameAnswer } from "../domain/name-answer.ts";
import type { Scope } from "../domain/scope.ts";
import { doubtOrder, validatePositions, validateReferences } from "../domain/validate-order.ts";
import type { UsedSince } from "../domain/voucher-uses.ts";
import { findLost } from "../store/lost-positions.ts";
import * as positions from "../store/positions.ts";
import { findCodesMadeHere } from "../store/sales.ts";
import * as answerFiles from "../store/stored-answer-files.ts";
import * as orders from "../store/stored-orders.ts";
import { changeUses } from "../uses/change-uses.ts";
import { positionChanged } from "../wire/position-fact.ts";
import {
  budgetUseOf,
  encodeEarlierCheckins,
  joinEarlierCheckins,
  toOrder,
  toPosition,
} from "../wire/position-message.ts";
import { toVoucherUse } from "../wire/voucher-use-fact.ts";
import { bringOrder } from "./brought-order.ts";
import { deleteOverruledAnswers } from "./change-gate-answers.ts";
import {
  answerTooLong,
  examineFileAnswers,
  filesOf,
  keepFileAnswers,
  longestAnswer,
  mapAnswers,
  noneUnread,
  readFileAnswers,
  resolveFileAnswers,
  validateFileAnswers,
} from "./file-answers.ts";
import type { RecordKind } from "./kind.ts";
import { dropTakenOver, keepLeftOut, noteAges } from "./left-out-positions.ts";
import type { OrderData } from "./order-data.ts";
import { refuseErased } from "./order-personal-data.ts";
import { findOrCreateSeats, keyOfSeat, mentionSeat, refuseSharedSeats, SeatPlan } from "./order-seats.ts";
import { refuseTaken } from "./position-owners.ts";
import type { Seat } from "./seat.ts";

/** An order, and the rows of its positions as far as they follow from it alone. */
export interface OrderRecord extends Reading<OrderData> {
  readonly positions: readonly positions.PositionRow[];
}

const madeHere = "An order with this code was made here; no record may bring, replace or remove it.";
const noneLeft = "None of its positions can be taken.";
const positionMadeHere = `Positions with ids from ${firstIdMadeHere} on were made here; no record may bring one.`;

/** Reads the data of an order, also of one that is made here. */
export const readOrder = compileReader(orderRecord, {
  rules: {
    "positions.*.answers.*.answer": (answer) =>
      typeof answer !== "string" || answer.length <= longestAnswer || isDataUrl(answer) ? undefined : answerTooLong,
  },
  complete: readFileAnswers,
  // An order that is sent again without scans must not lose them, so its document does not contain them.
  omit: ["positions.*.checkins"],
  nullIsMissing: true,
});

/** An order with its positions. */
export const order: RecordKind<OrderRecord> = {
  name: "order",
  schema: orderRecord,
  async read(data, leftOut = [], wrong = []) {
    const checked = await readOrder.inSlices(data);
    if (!checked.ok) return checked;
    const unread = leftOut.flatMap((each) =>
      each.list === "positions" && !isOfOthers(each, wrong) ? [idOf(each.element)] : [],
    );
    const ofOthers = leftOut.filter((each) => each.list === "positions" && isOfOthers(each, wrong));
    const reading = await withScansOfOthers(withUnread(checked.value, unread), ofOthers);
    const contradictions = refuseEach([reading.data], validateIds).get(reading.data);
    if (contradictions !== undefined) return { ok: false, errors: contradictions };
    return { ok: true, value: await toRecordInSlices(reading) };
  },
  keyOf: ({ data }) => data.code,
  partsOf: ({ data }) => data.positions.map(({ id }) => id),
  removedAtField: "last_modified",
  async examineFiles(value, examine) {
    return toRecordInSlices(await examineFileAnswers(value, examine));
  },
  filesOf: ({ data }, scope) => filesOf(data, scope),
  keepFiles: (value, before) => toRecordInSlices(keepFileAnswers(value, before.data)),
  mention({ data }, mentioned) {
    mentioned.orders.add(data.code);
    mentioned.salesChannels.add(data.sales_channel);
    for (const { tax_rule } of data.fees) if (tax_rule !== null) mentioned.taxRules.add(tax_rule);
    for (const position of data.positions) {
      for (const { question } of position.answers ?? []) mentioned.questions.add(question);
      mentionSeat(position, mentioned);
      mentioned.positions.add(position.id);
      mentioned.items.add(position.item);
      if (position.subevent !== null) mentioned.subevents.add(position.subevent);
      if (position.tax_rule !== null) mentioned.taxRules.add(position.tax_rule);
    }
  },
  async refuseRemoval(tx, { scope, keys }) {
    const made = await findCodesMadeHere(tx, scope.organizer, keys);
    return new Map([...made].map((code) => [code, { non_field_errors: [madeHere] }]));
  },
  async refuse(tx, { scope, values, known, behind }) {
    const erased = await findErasedUntil(tx, scope);
    const isAnyErased = erased.size > 0;
    const ids = values.flatMap(({ data }) => data.positions.map(({ id }) => id));
    const placedAt = isAnyErased ? await findOlderOrders(tx, scope, { values, known }) : new Map<string, number>();
    const lostAt = isAnyErased ? await findLost(tx, scope, ids) : new Map<number, number>();
    const missing = refuseMissing(values, { known, erased, placedAt, lostAt });
    if (missing.size > 0) return missing;
    const taken = refuseTaken(values, { known, behind });
    return taken.size > 0 ? taken : refuseSharedSeats(values, known);
  },
  bring: ({ data }, known) => bringOrder(data, known),
  doubt: ({ values, known }) => refuseEach(values, ({ data }, addWarning) => doubtOrder(data, known, addWarning)),
  async store(tx, { scope, values: read, known }) {
    const { values: resolved, files } = await resolveFileAnswers(tx, { scope, values: read, known });
    const values = resolved.map((value, at) => {
      const data = mapAnswers(value.data, (answer) => nameAnswer(answer, known.questions.get(answer.question)));
      return data === read[at]?.data ? value : { ...value, data, positions: toRows(data) };
    });
    const seats = await findOrCreateSeats(tx, scope, { values, known });
    const rows = await joinScans(
      tx,
      scope,
      values.flatMap((value) => noteAdded(seatRows(value, seats), value.data, known)),
    );
    const stored = rows.filter(({ id }) => known.positions.has(id));
    await deleteOverruledAnswers(tx, scope, stored);
    const sent = new Set(rows.map(({ id }) => id));
    const scanned = await joinScans(tx, scope, await readScannedOfOthers(tx, scope, values));
    await dropTakenOver(tx, scope, { rows, known });
    const kept = await keepLeftOut(tx, scope, { values, known, sent });
    const orderRows = kept.values.map(({ data, document }) => ({ code: data.code, status: data.status, document }));
    await orders.upsert(tx, scope, orderRows);
    const storedRows = [...kept.rows, ...scanned];
    const allRows = [...rows, ...storedRows];
    const mayUse = [...rows.filter(({ id, voucher }) => voucher !== null || known.positions.has(id)), ...storedRows];
    const usedSince = await changeUses(tx, scope, mayUse.map(toUseChange));
    const changes = await storePositions(tx, scope, allRows, usedSince);
    await answerFiles.replace(tx, scope, { positions: [...sent], files });
    await publishUses(tx, scope, { changes, rows: allRows, usedSince });
  },
  async remove(tx, { scope, keys, removedAt, moving }) {
    const removable = await orders.findRemovable(tx, scope, { codes: keys, removedAt });
    const all = removable.flatMap(({ code, positions: ids }) =>
      ids.map((id) => ({
        id,
        code,
        changedAt: removedAt.get(code) ?? null,
        moves:
          moving
            .get(id)
            ?.values()
            .some((other) => other !== code) === true,
      })),
    );
    const [left, gone] = [all.filter(({ moves }) => moves), all.filter(({ moves }) => !moves)];
    await positions.leave(tx, scope, left);
    await removePositions(tx, scope, gone);
    const kept = new Set(left.map(({ code }) => code));
    const codes = removable.map(({ code }) => code).filter((code) => !kept.has(code));
    await orders.deleteOrders(tx, scope, codes);
    await orders.dropPositions(tx, scope, { codes: [...kept], ids: gone.map(({ id }) => id) });
  },
};

/** So many are encoded in a few milliseconds. */
const factsAtOnce = 1000;

/** Stores positions, publishes those that this changes, and returns what changed of them, by their ids. */
export async function storePositions(
  tx: Tx,
  scope: Scope,
  rows: readonly positions.PositionRow[],
  usedSince: ReadonlyMap<number, UsedSince>,
): Promise<ReadonlyMap<number, positions.ChangedPosition>> {
  const changed = await positions.upsert(tx, scope, { rows, since: usedSince });
  const changes = new Map(changed.map((change) => [change.id, change]));
  const facts = rows.flatMap(({ id, state }) => {
    const change = changes.get(id);
    return change === undefined ? [] : [{ ...scope, ...change, state }];
  });
  for (let at = 0; at < facts.length; at += factsAtOnce) {
    await tx.publish(positionChanged, facts.slice(at, at + factsAtOnce));
  }
  return changes;
}

/** Adds the rows of its positions to an order. */
export function toRecord(reading: Reading<OrderData>): OrderRecord {
  return { ...reading, positions: toRows(reading.data) };
}

async function toRecordInSlices(reading: Reading<OrderData>): Promise<OrderRecord> {
  const rows: positions.PositionRow[] = [];
  await inSlices(rowsOf(reading.data), (row) => rows.push(row));
  return { ...reading, positions: rows };
}

/** Notes which positions could not be read. One without an id could be any. */
function withUnread(reading: Reading<OrderData>, unread: readonly (number | undefined)[]): Reading<OrderData> {
  if (unread.length === 0) return reading;
  const ids = new Set(unread);
  return { ...reading, data: { ...reading.data, unread: ids.has(undefined) ? { has: () => true } : ids } };
}

/** Notes the scans of positions that the order is without, because they belong to others: a scan is never lost. */
async function withScansOfOthers(
  reading: Reading<OrderData>,
  ofOthers: readonly LeftOut[],
): Promise<Reading<OrderData>> {
  if (ofOthers.length === 0) return reading;
  // A reader changes what it reads.
  const elements = structuredClone(ofOthers.map(({ element }) => element));
  const read = await readOrder.inSlices({ ...(JSON.parse(reading.document) as object), positions: elements });
  if (!read.ok) return reading;
  const scans = new Map(
    read.value.data.positions.flatMap(({ id, checkins }) => {
      const encoded = encodeEarlierCheckins(checkins);
      return encoded === null ? [] : [[id, encoded] as const];
    }),
  );
  return { ...reading, data: { ...reading.data, scansOfOthers: scans } };
}

/** The rows of other orders' positions, with the scans that these orders were sent with. */
async function readScannedOfOthers(
  tx: Tx,
  scope: Scope,
  values: readonly OrderRecord[],
): Promise<readonly positions.PositionRow[]> {
  const scans = new Map(values.flatMap(({ data }) => [...(data.scansOfOthers ?? [])]));
  if (scans.size === 0) return [];
  const rows = await positions.readRows(tx, scope, [...scans.keys()]);
  return rows.map((row) => ({ ...row, earlierCheckins: scans.get(row.id) ?? null }));
}

/** Whether a position was left out because another order has it: then nothing in it is wrong, and this order is without it. */
function isOfOthers({ index, element }: LeftOut, wrong: readonly string[]): boolean {
  return wrong.includes(`positions.${index}`) && idOf(element) !== undefined;
}

/** The id of what could not be read as a position; undefined: it has none. */
function idOf(element: LeftOut["element"]): number | undefined {
  const id = isObject(element) ? Number(element["id"]) : Number.NaN;
  return Number.isInteger(id) ? id : undefined;
}

/** Finds positions that contradict each other, or that only orders made here have. */
function validateIds(data: OrderData, addError: AddError): void {
  validatePositions(data, addError);
  for (const [index, { id }] of data.positions.entries()) {
    if (id >= firstIdMadeHere) addError(`positions.${index}.id`, positionMadeHere);
  }
}

/** When the stored orders were placed that records replace, or take positions of. */
function findOlderOrders(
  tx: Tx,
  scope: Scope,
  { values, known }: { readonly values: readonly OrderRecord[]; readonly known: Known },
): Promise<ReadonlyMap<string, number>> {
  const codes = values.flatMap(({ data }) => [
    data.code,
    ...data.positions.flatMap(({ id }) => known.positions.get(id)?.order ?? []),
  ]);
  return orders.findPlacedAt(tx, scope, [...new Set(codes)]);
}

/** Finds in orders what refers to missing entities, or brings back what was erased. */
function refuseMissing(
  values: readonly OrderRecord[],
  {
    known,
    erased,
    placedAt,
    lostAt,
  }: {
    readonly known: Known;
    readonly erased: ErasedUntil;
    readonly placedAt: ReadonlyMap<string, number>;
    readonly lostAt: ReadonlyMap<number, number>;
  },
): Map<OrderRecord, Record<string, string[]>> {
  const seats = new SeatPlan(known);
  return refuseEach(
    values,
    ({ data }, addError) => {
      if (known.codesMadeHere.has(data.code)) addError("code", madeHere);
      if (hasOnlyUnread(data) && !known.orders.has(data.code)) addError("positions", noneLeft);
      validateReferences(data, known, addError);
      validateFileAnswers(data, known, addError);
      refuseErased(data, { erased, placedAt, lostAt, positions: known.positions }, addError);
      seats.validate(data, addError);
    },
    ({ data }) => seats.admit(data),
  );
}

/** A new order without a position that can be read admits no visitor. A stored one keeps what it has, and may cancel some of it. */
function hasOnlyUnread({ positions: brought, unread }: OrderData): boolean {
  return brought.length === 0 && unread !== noneUnread;
}

function toRows(data: OrderData): OrderRecord["positions"] {
  return [...rowsOf(data)];
}

function* rowsOf(data: OrderData): Generator<positions.PositionRow> {
  const orderPart = toOrder(data);
  for (const position of data.positions) {
    yield {
      id: position.id,
      orderCode: data.code,
      positionid: position.positionid,
      item: position.item,
      variation: position.variation,
      subevent: position.subevent,
      secret: position.secret,
      canceled: position.canceled,
      seat: null,
      takenAs: takenAs({ canceled: position.canceled, orderStatus: data.status }),
      voucher: position.voucher,
      budgetUse: budgetUseOf(position),
      placedAt: data.datetime,
      changedAt: data.last_modified,
      leftOut: false,
      state: Position.encode(toPosition(position, { order: orderPart })).finish(),
      earlierCheckins: encodeEarlierCheckins(position.checkins),
    };
  }
}

/** Adds the seats, which only the database knows, to positions. */
function seatRows(
  { data, positions: rows }: OrderRecord,
  seats: ReadonlyMap<string, Seat>,
): readonly positions.PositionRow[] {
  if (data.positions.every((position) => position.seat === null)) return rows;
  const orderPart = toOrder(data);
  return data.positions.flatMap((position, index) => {
    const row = rows[index];
    const seat = seats.get(keyOfSeat(position) ?? "");
    if (row === undefined || seat === undefined) return row ?? [];
    return { ...row, seat: seat.id, state: Position.encode(toPosition(position, { order: orderPart, seat })).finish() };
  });
}

/** Notes of positions that name a voucher whether they or their order were known here before: then they did not come with it. */
function noteAdded(
  rows: readonly positions.PositionRow[],
  { code }: OrderData,
  { orders: stored, positions: orderOf }: Known,
): readonly positions.PositionRow[] {
  const isAdded = ({ id }: positions.PositionRow) => stored.has(code) || orderOf.has(id);
  return rows.map((row) => (row.voucher !== null && isAdded(row) ? { ...row, placedAt: null } : row));
}

/** Scans are never lost by sending a position again without them: new ones are added to those that are stored. */
async function joinScans(
  tx: Tx,
  scope: Scope,
  rows: readonly positions.PositionRow[],
): Promise<readonly positions.PositionRow[]> {
  const scanned = rows.flatMap(({ id, earlierCheckins }) => (earlierCheckins === null ? [] : [id]));
  const before = await positions.readEarlierCheckins(tx, scope, scanned);
  const joined: positions.PositionRow[] = [];
  await inSlices(rows, (row) => {
    const stored = before.get(row.id);
    const isJoined = stored !== undefined && row.earlierCheckins !== null;
    joined.push(isJoined ? { ...row, earlierCheckins: joinEarlierCheckins(stored, row.earlierCheckins) } : row);
  });
  return joined;
}

function toUseChange({ id, voucher, takenAs: counts, budgetUse: budget, placedAt, changedAt }: positions.PositionRow) {
  if (voucher === null) return { id, taking: undefined, placedAt: null, changedAt };
  return { id, taking: { voucher, counts: counts !== null, budget }, placedAt, changedAt };
}

/** Publishes what positions take of vouchers, of those that name one or did before the change: usually of none. */
async function publishUses(
  tx: Tx,
  scope: Scope,
  {
    changes,
    rows,
    usedSince,
  }: {
    readonly changes: ReadonlyMap<number, positions.ChangedPosition>;
    readonly rows: readonly positions.PositionRow[];
    readonly usedSince: ReadonlyMap<number, UsedSince>;
  },
): Promise<void> {
  const concerned = rows.flatMap((row) => {
    const [change, used] = [changes.get(row.id), usedSince.get(row.id)];
    if (change === undefined || used === undefined) return [];
    return [{ ...scope, ...row, revision: change.revision, since: used.since }];
  });
  await tx.publish(
    topics.voucherUseChanged,
    concerned.flatMap((row) => toVoucherUse(row) ?? []),
  );
  await retractUses(
    tx,
    scope,
    concerned.filter(({ voucher }) => voucher === null),
  );
}

/** Tells of uses that they have ended, and when. */
async function retractUses(
  tx: Tx,
  scope: Scope,
  ended: readonly { readonly id: number; readonly since: number }[],
): Promise<void> {
  for (const [deletedAt, uses] of Map.groupBy(ended, ({ since }) => since)) {
    const keys = uses.map(({ id }) => entityKey(scope.organizer, scope.event, id));
    await tx.retract(topics.voucherUseChanged, keys, { deletedAt });
  }
}

/** Deletes positions of orders that were removed. */
async function removePositions(
  tx: Tx,
  scope: Scope,
  gone: readonly { readonly id: number; readonly changedAt: number | null }[],
): Promise<void> {
  const changes = gone.map((each) => ({ ...each, taking: undefined, placedAt: null }));
  const usedSince = await changeUses(tx, scope, changes);
  const removed = await positions.deletePositions(
    tx,
    scope,
    gone.map(({ id }) => id),
  );
  await noteAges(
    tx,
    scope,
    removed.flatMap(({ id, state }) => (state === null ? [] : [{ id, state }])),
  );
  if (removed.length === 0) return;
  const keys = removed.map(({ id }) => entityKey(scope.organizer, scope.event, id));
  await tx.retract(topics.positionChanged, keys, { deletedAt: await positions.drawRevision(tx) });
  await retractUses(
    tx,
    scope,
    Array.from(usedSince, ([id, { since }]) => ({ id, since })),
  );
}
