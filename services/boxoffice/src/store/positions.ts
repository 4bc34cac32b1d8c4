import { entityKey as key } from "@tessera/events/entity-key";
import { isErased } from "@tessera/events/personal-data/erased-kinds";
import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { bigint, boolean, bytea, decimal, instant, rowsAs, text } from "@tessera/kit/pg/table";
import { withKey } from "@tessera/kit/pg/with-key";
import type { TakenAs } from "../domain/availability.ts";
import type { Scope } from "../domain/scope.ts";
import type { UsedSince } from "../domain/voucher-uses.ts";
import { addTaken } from "./capacity.ts";
import { gateAnswersOf, type StoredGateAnswers } from "./gate-answer-rows.ts";

export interface PositionRow {
  readonly id: number;
  readonly orderCode: string;
  readonly positionid: number;
  readonly item: number;
  readonly variation: number | null;
  readonly subevent: number | null;
  readonly secret: string;
  readonly canceled: boolean;
  /** The id of its seat, even if it does not take the seat any more. */
  readonly seat: number | null;
  readonly takenAs: TakenAs | null;
  /** The voucher that it names, and what it took of the budget. */
  readonly voucher: number | null;
  readonly budgetUse: string | null;
  /** When its order was placed, in microseconds since 1970; null: it did not come with its order. */
  readonly placedAt: number | null;
  /** When the shop changed its order last, in microseconds since 1970; null: unknown. */
  readonly changedAt: number | null;
  /** The record of its order leaves it out: it is canceled, and another order may take it over. */
  readonly leftOut: boolean;
  /** An encoded Position, as its record has it. */
  readonly state: Uint8Array;
  /** All of them; null keeps those that are stored. */
  readonly earlierCheckins: Uint8Array | null;
}

/** A position of an event. */
export interface PositionPlace extends Scope {
  readonly id: number;
}

/** All fields of a position that other services know. */
export interface StoredPosition extends PositionPlace {
  readonly revision: number;
  /** An encoded Position, as its record has it. */
  readonly state: Uint8Array;
  readonly gate: StoredGateAnswers;
  /** An encoded PositionChanged with nothing but `earlier_checkins`. */
  readonly earlierCheckins: Uint8Array | null;
}

/** The fields that a caller which stores the state does not know. */
export type ChangedPosition = Pick<StoredPosition, "id" | "revision" | "gate" | "earlierCheckins">;

/** The columns of a StoredPosition, by default under the revision of its last change. */
export function storedPosition(position: Sql, revision?: Sql): Sql {
  return sql`${position}.organizer, ${position}.event, ${position}.state, ${changedPosition(position, revision)}`;
}

/** The columns of a ChangedPosition. */
function changedPosition(position: Sql, revision = sql`${position}.revision`): Sql {
  return sql`${position}.id, ${revision} as revision, ${position}.earlier_checkins as "earlierCheckins",
           ${gateAnswersOf(position)} as gate`;
}

const rowColumns = {
  id: bigint,
  orderCode: text,
  positionid: bigint,
  item: bigint,
  variation: bigint.orNull,
  subevent: bigint.orNull,
  secret: text,
  canceled: boolean,
  seat: bigint.orNull,
  takenAs: text.orNull,
  voucher: bigint.orNull,
  budgetUse: decimal.orNull,
  voucherSince: instant.orNull,
  voucherOvertaken: instant.orNull,
  leftOut: boolean,
  state: bytea,
  earlierCheckins: bytea.orNull,
};

/**
 * Upserts positions, counts their capacity, and returns new and changed ones. `since` says since when those that name a
 * voucher take what they take of it.
 */
export async function upsert(
  tx: Tx,
  scope: Scope,
  { rows, since }: { readonly rows: readonly PositionRow[]; readonly since: ReadonlyMap<number, UsedSince> },
): Promise<ChangedPosition[]> {
  if (rows.length === 0) return [];
  const { organizer, event } = scope;
  const sent = rows.map((row) => {
    const { since: at = null, overtakenAt: voucherOvertaken = null } = since.get(row.id) ?? {};
    return { ...row, voucherSince: row.voucher === null ? null : at, voucherOvertaken };
  });
  // All parts of a statement see one snapshot: `before` are the rows that `stored` replaces.
  const before = sql`
    lateral (select before.id, before.subevent, before.item, before.variation, before.taken_as
               from position as before
              where ${withKey(sql`before.organizer, before.event, before.id`, sql`${organizer}, ${event}, stored.id`)}
              limit 1) as before`;
  const changes = sql`
    select stored.subevent, stored.item, stored.variation, stored.taken_as, 1 as positions
      from stored
     union all
    select before.subevent, before.item, before.variation, before.taken_as, -1
      from stored
     cross join ${before}`;
  return tx.many<ChangedPosition>(sql`
    with stored as (
      insert into position as kept (organizer, event, id, order_code, positionid, item, variation, subevent, secret,
                                    canceled, seat, taken_as, voucher, budget_use, voucher_since_at,
                                    voucher_overtaken_at, left_out, state, earlier_checkins, revision)
      select ${organizer}, ${event}, incoming.id, incoming.order_code, incoming.positionid, incoming.item,
             incoming.variation, incoming.subevent, incoming.secret, incoming.canceled, incoming.seat,
             incoming.taken_as, incoming.voucher, incoming.budget_use, incoming.voucher_since_at,
             incoming.voucher_overtaken_at, incoming.left_out, incoming.state, incoming.earlier_checkins,
             nextval('revision_seq')
        from ${rowsAs("incoming", rowColumns, sent)}
       order by incoming.id
          on conflict (organizer, event, id) do update
         set order_code = excluded.order_code,
             positionid = excluded.positionid,
             item = excluded.item,
             variation = excluded.variation,
             subevent = excluded.subevent,
             secret = excluded.secret,
             canceled = excluded.canceled,
             seat = excluded.seat,
             taken_as = excluded.taken_as,
             voucher = excluded.voucher,
             budget_use = excluded.budget_use,
             voucher_since_at = excluded.voucher_since_at,
             voucher_overtaken_at = excluded.voucher_overtaken_at,
             left_out = excluded.left_out,
             state = excluded.state,
             earlier_checkins = coalesce(excluded.earlier_checkins, kept.earlier_checkins),
             revision = nextval('revision_seq')
       where kept.state <> excluded.state
          or kept.seat is distinct from excluded.seat
          or kept.taken_as is distinct from excluded.taken_as
          or kept.left_out <> excluded.left_out
          or kept.voucher_overtaken_at is distinct from excluded.voucher_overtaken_at
          or kept.earlier_checkins is distinct from coalesce(excluded.earlier_checkins, kept.earlier_checkins)
      returning kept.organizer, kept.event, kept.id, kept.subevent, kept.item, kept.variation, kept.taken_as,
                kept.revision, kept.earlier_checkins, kept.answers_revision
    ), counted as (${addTaken(scope, changes)})
    select ${changedPosition(sql`stored`)}
      from stored`);
}

/** Reads rows to store them again: their earlier scans stay. */
export function readRows(tx: Tx, { organizer, event }: Scope, ids: readonly number[]): Promise<PositionRow[]> {
  return tx.many<PositionRow>(sql`
    select position.id, position.order_code as "orderCode", position.positionid, position.item, position.variation,
           position.subevent, position.secret, position.canceled, position.seat, position.taken_as as "takenAs",
           position.voucher, position.budget_use as "budgetUse",
           null as "placedAt", null as "changedAt", position.left_out as "leftOut", position.state, null as "earlierCheckins"
      from position
     where position.organizer = ${organizer}
       and position.event = ${event}
       and position.id = any(${ids}::bigint[])
     order by position.id`);
}

/** The fields of a position that an erasure reads. */
export interface ErasablePosition extends Pick<PositionRow, "id" | "state"> {
  /** Whether a gate has answered for it. */
  readonly isAnswered: boolean;
}

/** Reads the states of positions; deleted ones are left out. */
export function readStates(tx: Tx, { organizer, event }: Scope, ids: readonly number[]): Promise<ErasablePosition[]> {
  return tx.many<ErasablePosition>(sql`
    select position.id, position.state,
           position.answers_revision is not null
           and exists (select
                         from gate_answer
                        where gate_answer.organizer = position.organizer
                          and gate_answer.event = position.event
                          and gate_answer.position = position.id) as "isAnswered"
      from position
     where position.organizer = ${organizer}
       and position.event = ${event}
       and position.id = any(${ids}::bigint[])
     order by position.id`);
}

/** Replaces the states of positions, whose capacity does not change, and returns the positions. */
export async function replaceStates(
  tx: Tx,
  { organizer, event }: Scope,
  rows: readonly Pick<PositionRow, "id" | "state">[],
): Promise<StoredPosition[]> {
  if (rows.length === 0) return [];
  return tx.many<StoredPosition>(sql`
    update position
       set state = replaced.state,
           revision = nextval('revision_seq')
      from ${rowsAs(
        "replaced",
        { ...key, state: bytea },
        rows.map((row) => ({ organizer, event, ...row })),
      )}
     where position.organizer = replaced.organizer
       and position.event = replaced.event
       and position.id = replaced.id
    returning ${storedPosition(sql`position`)}`);
}

/** Reads the scans made elsewhere of these positions, if there are any. */
export async function readEarlierCheckins(
  tx: Tx,
  { organizer, event }: Scope,
  ids: readonly number[],
): Promise<Map<number, Uint8Array>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.many<{ id: number; earlierCheckins: Uint8Array }>(sql`
    select position.id, position.earlier_checkins as "earlierCheckins"
      from position
     where position.organizer = ${organizer}
       and position.event = ${event}
       and position.id = any(${ids}::bigint[])
       and position.earlier_checkins is not null`);
  return new Map(rows.map((row) => [row.id, row.earlierCheckins]));
}

/** A position, and when its row was created, in microseconds since 1970; null: unknown. */
export interface FoundPosition extends StoredPosition {
  readonly madeAt: number | null;
}

/** Finds positions; deleted ones are left out. */
export async function find(db: Queryable, places: readonly PositionPlace[]): Promise<FoundPosition[]> {
  return db.many<FoundPosition>(sql`
    select ${storedPosition(sql`position`)}, position.made_at as "madeAt"
      from ${rowsAs("wanted", key, places)}
     cross join lateral (
       select position.organizer, position.event, position.id, position.state, position.revision,
              position.earlier_checkins, position.answers_revision, position.made_at
         from position
        where ${withKey(sql`position.organizer, position.event, position.id`, sql`wanted.organizer, wanted.event, wanted.id`)}
        limit 1) as position`);
}

/** Reads the states of these positions that a gate ever answered for: usually of none. */
export async function findAnsweredAtGates(
  tx: Tx,
  { organizer, event }: Scope,
  ids: readonly number[],
): Promise<Pick<StoredPosition, "id" | "state">[]> {
  if (ids.length === 0) return [];
  return tx.many(sql`
    select position.id, position.state
      from position
     where position.organizer = ${organizer}
       and position.event = ${event}
       and position.id = any(${ids}::bigint[])
       and position.answers_revision is not null`);
}

/** Stores the revision up to which gate answers are stored; returns the positions that change. */
export async function setAnswersRevisions(
  tx: Tx,
  rows: readonly (PositionPlace & { readonly upTo: number; readonly isNews: boolean })[],
): Promise<StoredPosition[]> {
  if (rows.length === 0) return [];
  const stored = await tx.many<StoredPosition & { readonly isNews: boolean }>(sql`
    update position
       set answers_revision = incoming.up_to,
           revision = case when incoming.is_news then nextval('revision_seq') else position.revision end
      from ${rowsAs("incoming", { ...key, upTo: bigint, isNews: boolean }, rows)}
     where position.organizer = incoming.organizer
       and position.event = incoming.event
       and position.id = incoming.id
    returning ${storedPosition(sql`position`)}, incoming.is_news as "isNews"`);
  return stored.filter(({ isNews }) => isNews);
}

/** Leaves positions of a removed order, and their seats, to orders that are about to be stored. */
export async function leave(
  tx: Tx,
  { organizer, event }: Scope,
  left: readonly Pick<PositionRow, "id">[],
): Promise<void> {
  if (left.length === 0) return;
  await tx.run(sql`
    update position
       set left_out = true,
           seat = null
     where position.organizer = ${organizer}
       and position.event = ${event}
       and position.id = any(${left.map(({ id }) => id)}::bigint[])`);
}

export interface DeletedPosition {
  readonly id: number;
  /** Its state, if data of its event was erased; else null. */
  readonly state: Uint8Array | null;
}

/** Deletes positions, releases their capacity, and returns the deleted ones. */
export async function deletePositions(tx: Tx, scope: Scope, ids: readonly number[]): Promise<DeletedPosition[]> {
  if (ids.length === 0) return [];
  const changes = sql`
    select removed.subevent, removed.item, removed.variation, removed.taken_as, -1 as positions
      from removed`;
  const place = { organizer: sql`${scope.organizer}`, event: sql`${scope.event}` };
  return tx.many<DeletedPosition>(sql`
    with removed as (
      delete from position
       where position.organizer = ${scope.organizer}
         and position.event = ${scope.event}
         and position.id = any(${ids}::bigint[])
      returning position.id, position.subevent, position.item, position.variation, position.taken_as, position.state
    ), counted as (${addTaken(scope, changes)})
    select removed.id, case when ${isErased(place, "any")} then removed.state end as state
      from removed`);
}

/** Draws the revision of a deletion: later states of the same positions have higher ones. */
export async function drawRevision(tx: Tx): Promise<number> {
  const { revision } = await tx.one<{ revision: number }>(sql`select nextval('revision_seq') as revision`);
  return revision;
}

/** What each position takes of its voucher, for the reconciliation. */
export const voucherUseRows = sql`
  select position.organizer, position.event, position.id, position.revision,
         concat_ws('/', position.voucher, position.taken_as is not null,
                   case when position.taken_as is null then 0 else coalesce(position.budget_use, 0) end::numeric(15, 2)) as content
    from position
   where position.voucher is not null`;
