import type { BroughtEntity } from "@tessera/protos/gen/ticketing/records/v1/records";
import type { SharedData } from "@tessera/records/brought";
import type { Brought } from "@tessera/records/kind";
import type { Known, KnownQuestion, MediumCode, SeatPlace } from "../domain/known.ts";
import type { Scope } from "../domain/scope.ts";
import { seatKey } from "../domain/seat-key.ts";

/** The stored fields of validated records, by kind. */
interface BroughtData extends SharedData {
  readonly gate: { readonly name: string };
  readonly question: KnownQuestion;
  readonly seat: SeatPlace;
  readonly order: {
    readonly positions: readonly {
      readonly id: number;
      readonly secret: string;
      readonly seat: BroughtSeat | null;
    }[];
    /** Positions that the order no longer has: another order may take them over. */
    readonly given: readonly number[];
    readonly changedAt: number | null;
  };
  readonly api_key: { readonly token: string };
  readonly device: { readonly token: string };
  readonly reusable_medium: MediumCode;
}

interface BroughtSeat extends SeatPlace {
  /** Null: none was sent, so an id would be drawn. */
  readonly id: number | null;
  readonly isTaken: boolean;
}

export type BroughtHere<K extends keyof BroughtData> = Brought & { readonly data: BroughtData[K] };

/** The known entities, with changes in progress. */
type Draft = {
  -readonly [K in keyof Known]: Known[K] extends ReadonlyMap<infer Key, infer Value>
    ? Map<Key, Value>
    : Known[K] extends ReadonlySet<infer Key>
      ? Set<Key>
      : Known[K];
};

/** Adds what earlier records of a validated stream would have created; later records replace earlier ones. */
export function recall(known: Known, scope: Scope, brought: readonly BroughtEntity[]): Known {
  if (brought.length === 0) return known;
  const copies = Object.entries<unknown>({ ...known }).map(([name, all]) => [name, copyOf(all)]);
  const draft = Object.fromEntries(copies) as Draft;
  for (const entity of brought) {
    if (entity.organizer !== scope.organizer) continue;
    addOfOrganizer(draft, entity, scope);
    if (entity.event !== "" && entity.event === scope.event) addOfEvent(draft, entity);
  }
  return draft;
}

/** Copies a collection, but not what is in it: that is only replaced, and a copy of thousands would keep others waiting. */
function copyOf(all: unknown): unknown {
  if (all instanceof Map) return new Map(all);
  return all instanceof Set ? new Set(all) : all;
}

function addOfOrganizer(draft: Draft, entity: BroughtEntity, scope: Scope): void {
  const { kind, organizer, event, key } = entity;
  if (kind === "organizer") draft.organizer = true;
  if (kind === "sales_channel") draft.salesChannels.add(key);
  if (kind === "event") {
    const { isSeries } = dataOf(entity, "event");
    draft.events.set(key, isSeries);
    if (key === scope.event) draft.series = isSeries;
  }
  if (kind === "gate") draft.gates.set(Number(key), dataOf(entity, "gate").name);
  if (kind === "reusable_medium") draft.media.set(Number(key), dataOf(entity, "reusable_medium"));
  if (kind === "api_key" || kind === "device") {
    const owner = `${organizer}/${kind}/${key}`;
    for (const [token, other] of draft.tokens) if (other === owner) draft.tokens.delete(token);
    const { token } = dataOf(entity, kind);
    if (token !== "") draft.tokens.set(token, owner);
  }
  if (kind === "order") {
    for (const { id } of dataOf(entity, "order").positions)
      draft.linkedPositions.set(id, [...new Set([...(draft.linkedPositions.get(id) ?? []), event])]);
  }
}

function addOfEvent(draft: Draft, entity: BroughtEntity): void {
  const { kind, key } = entity;
  const id = Number(key);
  if (kind === "subevent") draft.subevents.add(id);
  if (kind === "tax_rule") draft.taxRules.add(id);
  if (kind === "category") draft.categories.add(id);
  if (kind === "item") draft.items.set(id, new Set(dataOf(entity, "item").variations));
  if (kind === "question") draft.questions.set(id, dataOf(entity, "question"));
  if (kind === "seat") {
    const { data = null, heldBy = null } = draft.seats.get(id) ?? {};
    draft.seats.set(id, { id, ...dataOf(entity, "seat"), data, heldBy });
  }
  if (kind === "order") addOrder(draft, entity);
}

function addOrder(draft: Draft, entity: BroughtEntity): void {
  const { key: code } = entity;
  const { positions, given, changedAt } = dataOf(entity, "order");
  const had = draft.orders.get(code) ?? [];
  draft.orders.set(code, [...new Set([...had, ...positions.map(({ id }) => id)])]);
  for (const id of given) if (draft.positions.get(id)?.order === code) draft.positions.delete(id);
  for (const { id, secret } of positions) draft.positions.set(id, { order: code, secret, changedAt, isLeftOut: false });

  const own = new Set([...had, ...positions.map(({ id }) => id)]);
  const ids = new Map<string, number>();
  for (const seat of draft.seats.values()) {
    ids.set(seatKey(seat.guid, seat.subevent), seat.id);
    if (seat.heldBy !== null && own.has(seat.heldBy)) draft.seats.set(seat.id, { ...seat, heldBy: null });
  }
  for (const { id: position, seat } of positions) {
    if (seat === null) continue;
    const { guid, subevent, isTaken } = seat;
    // No stored seat has a negative id.
    const id = ids.get(seatKey(guid, subevent)) ?? seat.id ?? -(draft.seats.size + 1);
    const { data = null, heldBy = null } = draft.seats.get(id) ?? {};
    draft.seats.set(id, { id, guid, subevent, data, heldBy: isTaken ? position : heldBy });
    ids.set(seatKey(guid, subevent), id);
  }
}

function dataOf<K extends keyof BroughtData>({ data }: BroughtEntity, _kind: K): BroughtData[K] {
  return JSON.parse(data) as BroughtData[K];
}
