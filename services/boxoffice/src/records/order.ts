import type { Tx } from "@tessera/kit/pg/database";
import { Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { entityKey, topics } from "@tessera/protos/topics";
import { takenAs } from "../domain/availability.ts";
import type { Scope } from "../domain/scope.ts";
import * as answerFiles from "../store/answer-files.ts";
import * as orders from "../store/orders.ts";
import * as positions from "../store/positions.ts";
import type { Known } from "../store/references.ts";
import { isDataUrl } from "./answer-file.ts";
import {
  answerTooLong,
  examineFileAnswers,
  filesOf,
  longestAnswer,
  type ReadOrder,
  readFileAnswers,
  settleFileAnswers,
} from "./file-answers.ts";
import { keepGateAnswers } from "./gate-answers.ts";
import { type Complain, notKnown, ofElement, type RecordKind, refuseEach } from "./kind.ts";
import { type CheckinData, type OrderData, orderSchema, type PositionData } from "./order-schema.ts";
import { findOrCreateSeats, keyOfSeat, mentionSeat, refuseSharedSeats, SeatPlan } from "./order-seats.ts";
import { positionChanged } from "./position-fact.ts";
import { encodeEarlierCheckins, toOrder, toPosition } from "./position-message.ts";
import { compileKeyReader, compileReader, type Reading } from "./read.ts";
import type { Seat } from "./seat.ts";

/** An order with all that can be made of it before the database is asked. */
interface OrderRecord extends Reading<ReadOrder> {
  readonly positions: readonly positions.PositionRow[];
}

const read = compileReader(orderSchema, {
  rules: {
    "positions.*.answers.*.answer": (answer) =>
      typeof answer !== "string" || answer.length <= longestAnswer || isDataUrl(answer) ? undefined : answerTooLong,
  },
  complete: readFileAnswers,
  // Scans are never lost by sending an order again without them, so they are not part of what it is replaced by.
  omit: ["positions.*.checkins"],
  nullIsMissing: true,
});

/** An order with its positions. */
export const order: RecordKind<OrderRecord> = {
  schema: orderSchema,
  belongsTo: "event",
  read(data) {
    const checked = read(data);
    if (!checked.ok) return checked;
    const reading = checked.value;
    const contradictions = refuseEach([reading.data], examinePositions).get(reading.data);
    if (contradictions !== undefined) return { ok: false, errors: contradictions };
    return { ok: true, value: { ...reading, positions: toRows(reading.data) } };
  },
  readKey: compileKeyReader(orderSchema, "code"),
  keyOf: ({ data }) => data.code,
  *idsOf({ data }) {
    for (const { id, seat } of data.positions) {
      yield ["position_id_seq", id];
      if (typeof seat === "object" && seat?.id) yield ["seat_id_seq", seat.id];
    }
  },
  filesOf: ({ data }) => filesOf(data),
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
  async refuse(_tx, { values, known }) {
    const refused = new Map<OrderRecord, Record<string, string[]>>();
    // An order that is refused keeps its seats and positions, which others may have counted on.
    for (;;) {
      const left = values.filter((value) => !refused.has(value));
      const found = refuseUnfounded(left, known);
      const seatless = found.size > 0 ? found : refuseSharedSeats(left, known);
      if (seatless.size === 0) return refused;
      for (const [value, errors] of seatless) refused.set(value, errors);
    }
  },
  async store(tx, { scope, values: read, known }) {
    const { changed, files: sentFiles, kept } = await settleFileAnswers(tx, { scope, values: read, known });
    const values = read.map((value) => {
      const other = changed.get(value);
      return other === undefined ? value : { ...other, positions: toRows(other.data) };
    });
    const seats = await findOrCreateSeats(tx, scope, { values, known });
    const seated = values.flatMap((value) => seatRows(value, seats));
    const { rows, files, staying } = await keepGateAnswers(tx, scope, {
      orders: values.map(({ data }) => data),
      rows: seated,
      files: sentFiles,
      known,
    });
    const sent = new Set(rows.map(({ id }) => id));
    const gone = values.flatMap(({ data }) => missing(data, known.orders)).filter((id) => !sent.has(id));
    await removePositions(tx, scope, gone);
    const orderRows = values.map(({ data, document }) => ({ code: data.code, status: data.status, document }));
    await orders.upsert(tx, scope, orderRows);
    const changes = new Map((await positions.upsert(tx, scope, rows)).map((change) => [change.id, change]));
    await answerFiles.replace(tx, scope, { positions: [...sent], files, kept: [...kept, ...staying] });
    const facts = rows.flatMap(({ id, state }) => {
      const change = changes.get(id);
      return change === undefined ? [] : [{ ...scope, ...change, state }];
    });
    await tx.publish(positionChanged, facts);
  },
  async remove(tx, { scope, keys }) {
    await removePositions(tx, scope, await orders.remove(tx, scope, keys));
  },
};

/** Complains about positions that contradict each other. */
function examinePositions({ positions: all }: OrderData, complain: Complain): void {
  const ids = new Set<number>();
  const numbers = new Set<number>();
  for (const [index, { id, positionid }] of all.entries()) {
    if (ids.has(id)) complain(`positions.${index}.id`, `position ${id} occurs twice`);
    if (numbers.has(positionid)) complain(`positions.${index}.positionid`, `positionid ${positionid} occurs twice`);
    ids.add(id);
    numbers.add(positionid);
  }
  for (const [index, { id, addon_to }] of all.entries()) {
    if (addon_to !== null && (addon_to === id || !ids.has(addon_to))) {
      complain(`positions.${index}.addon_to`, "This is not the id of another position of the order.");
    }
  }
  for (const [index, position] of all.entries()) {
    examineCheckins(position, (field, message) => complain(`positions.${index}.${field}`, message));
  }
}

/** Of two scans of one position with the same id, the one that came later would be taken for the other. */
function examineCheckins({ checkins }: PositionData, complain: Complain): void {
  const known = new Map<number, CheckinData>();
  for (const [index, checkin] of (checkins ?? []).entries()) {
    const other = known.get(checkin.id);
    known.set(checkin.id, checkin);
    if (other === undefined) continue;
    if (other.list === checkin.list && other.datetime === checkin.datetime && other.type === checkin.type) continue;
    complain(`checkins.${index}.id`, `check-in ${checkin.id} occurs twice, as different ones`);
  }
}

/** Refuses orders that refer to what does not exist, or to positions of others. */
function refuseUnfounded(values: readonly OrderRecord[], known: Known): Map<OrderRecord, Record<string, string[]>> {
  const ordersOf = new Map(known.positions);
  const seats = new SeatPlan(known);
  return refuseEach(
    values,
    ({ data }, complain) => {
      examineReferences(data, known, complain);
      examineFileAnswers(data, known, complain);
      seats.examine(data, complain);
      for (const [index, { id }] of data.positions.entries()) {
        if ((ordersOf.get(id) ?? data.code) === data.code) continue;
        complain(`positions.${index}.id`, `position ${id} belongs to another order`);
      }
    },
    ({ data }) => {
      seats.admit(data);
      // An order that is split gives positions to another, which comes behind it.
      for (const id of missing(data, known.orders)) ordersOf.delete(id);
      for (const { id } of data.positions) ordersOf.set(id, data.code);
    },
  );
}

function examineReferences(data: OrderData, known: Known, complain: Complain): void {
  if (!known.salesChannels.has(data.sales_channel)) complain("sales_channel", notKnown("sales channel"));
  for (const [index, { tax_rule }] of data.fees.entries()) {
    if (isUnknown(tax_rule, known.taxRules)) complain(`fees.${index}.tax_rule`, notKnown(`tax rule ${tax_rule}`));
  }
  for (const [index, position] of data.positions.entries()) {
    examinePosition(position, known, (field, message) => complain(`positions.${index}.${field}`, message));
  }
}

/** An item may have had no variations when a position was sold, so only a variation that is given is checked. */
function examinePosition(position: PositionData, known: Known, complain: Complain): void {
  const { item, variation, subevent, tax_rule } = position;
  const variations = known.items.get(item);
  if (variations === undefined) complain("item", notKnown(`item ${item}`));
  else if (isUnknown(variation, variations)) complain("variation", `item ${item} has no variation ${variation}`);
  if (subevent === null && known.series === true) complain("subevent", "A position of a series belongs to a date.");
  if (isUnknown(subevent, known.subevents)) complain("subevent", notKnown(`subevent ${subevent}`));
  if (isUnknown(tax_rule, known.taxRules)) complain("tax_rule", notKnown(`tax rule ${tax_rule}`));
  for (const [index, { question, options }] of (position.answers ?? []).entries()) {
    const has = known.questions.get(question)?.options;
    if (has === undefined) {
      complain("answers", ofElement(index, notKnown(`question ${question}`)));
      continue;
    }
    for (const option of options) {
      if (!has.includes(option)) complain("answers", ofElement(index, `question ${question} has no option ${option}`));
    }
  }
}

function isUnknown(id: number | null, known: ReadonlySet<number>): boolean {
  return id !== null && !known.has(id);
}

function toRows(data: OrderData): OrderRecord["positions"] {
  const orderPart = toOrder(data);
  return data.positions.map((position) => {
    return {
      id: position.id,
      orderCode: data.code,
      positionid: position.positionid,
      item: position.item,
      variation: position.variation,
      subevent: position.subevent,
      addonTo: position.addon_to,
      secret: position.secret,
      canceled: position.canceled,
      seat: null,
      takenAs: takenAs({ canceled: position.canceled, orderStatus: data.status }),
      state: Position.encode(toPosition(position, { order: orderPart })).finish(),
      earlierCheckins: encodeEarlierCheckins(position.checkins),
    };
  });
}

/** Puts positions on their seats, which only the database knows. */
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

/** The positions that an order had and now has no more. */
function missing({ code, positions: sent }: OrderData, stored: Known["orders"]): number[] {
  const had = stored.get(code);
  if (had === undefined) return [];
  const has = new Set(sent.map((position) => position.id));
  return had.filter((id) => !has.has(id));
}

async function removePositions(tx: Tx, scope: Scope, ids: readonly number[]): Promise<void> {
  const removed = await positions.remove(tx, scope, ids);
  await tx.retract(
    topics.positionChanged,
    removed.map((id) => entityKey(scope.organizer, scope.event, id)),
  );
}
