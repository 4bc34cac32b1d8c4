import type { Tx } from "@tessera/kit/pg/database";
import { Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { compileReader, type Reading } from "@tessera/records/read";
import { refuseEach, toSentence } from "@tessera/records/validate";
import { seatRecord } from "@tessera/resources/records/seat";
import type { TypeOf } from "@tessera/schema/schema";
import type { Known } from "../domain/known.ts";
import { refuseSeats } from "../domain/refuse-seats.ts";
import type { Scope } from "../domain/scope.ts";
import { seatKey } from "../domain/seat-key.ts";
import { replaceStates } from "../store/positions.ts";
import { findSeated } from "../store/seats.ts";
import { noteChanged } from "../store/stored-orders.ts";
import { findUsers } from "../store/usage.ts";
import { positionChanged } from "../wire/position-fact.ts";
import { toSeat } from "../wire/position-message.ts";
import { type Changed, catalogueKind } from "./catalogue-kind.ts";
import type { RecordKind, Run } from "./kind.ts";
import type { BroughtHere } from "./recall.ts";

/** A seat as it is stored. */
export type Seat = Omit<TypeOf<typeof seatRecord>, "orderposition">;

/** A seat. The facts of its positions contain it. */
export const seat: RecordKind<Reading<Seat>> = {
  ...catalogueKind<Seat>({
    table: "seat",
    schema: seatRecord,
    read: compileReader(seatRecord, { omit: ["orderposition"] }),
    isRenamed,
    afterChange: publishPositions,
  }),
  mention({ data }, mentioned) {
    mentioned.seats.add(data.id);
    mentioned.seatPlaces.push({ guid: data.seat_guid, subevent: data.subevent });
    if (data.product !== null) mentioned.items.add(data.product);
    if (data.subevent !== null) mentioned.subevents.add(data.subevent);
  },
  bring: ({ data }): BroughtHere<"seat"> => ({
    names: [data.seat_guid],
    data: { guid: data.seat_guid, subevent: data.subevent },
  }),
  async refuse(tx, run) {
    const lost = await refuseLostSeats(tx, run);
    const left = run.values.filter((value) => !lost.has(value));
    return new Map([...lost, ...refuseSeats(left, run.known)]);
  },
};

/** Whether the guid or the date of the seat changes. */
function isRenamed({ id, seat_guid, subevent }: Seat, known: Known): boolean {
  const before = known.seats.get(id);
  return before !== undefined && seatKey(before.guid, before.subevent) !== seatKey(seat_guid, subevent);
}

/** Orders name their seats by guid and date, so a seat in use must keep both. */
async function refuseLostSeats(tx: Tx, run: Run<Reading<Seat>>): Promise<Map<Reading<Seat>, Record<string, string[]>>> {
  const renamed = run.values.filter(({ data }) => isRenamed(data, run.known));
  if (renamed.length === 0) return new Map();
  const users = await findUsers(tx, "seat", { scope: run.scope, keys: renamed.map(({ data }) => String(data.id)) });
  return refuseEach(renamed, ({ data }, addError) => {
    const by = users.get(String(data.id));
    if (by === undefined) return;
    const before = run.known.seats.get(data.id);
    if (before?.guid !== data.seat_guid)
      addError("seat_guid", toSentence(`${by} refer to the seat by its former guid`));
    if (before?.subevent !== data.subevent)
      addError("subevent", toSentence(`${by} refer to the seat on its former date`));
  });
}

async function publishPositions(tx: Tx, scope: Scope, changed: readonly Changed<Seat>[]): Promise<void> {
  const seats = new Map(changed.map(({ data }) => [data.id, data]));
  const rows = (await findSeated(tx, scope, [...seats.keys()])).flatMap(({ id, seat, state: before }) => {
    const data = seats.get(seat);
    if (data === undefined) return [];
    const state = Position.encode({ ...Position.decode(before), seat: toSeat(data) }).finish();
    return Buffer.compare(state, before) === 0 ? [] : [{ id, state }];
  });
  const facts = await replaceStates(tx, scope, rows);
  await noteChanged(tx, facts);
  await tx.publish(positionChanged, facts);
}
