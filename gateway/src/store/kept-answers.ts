import { isErased } from "@tessera/events/personal-data/erased-kinds";
import type { Db, Queryable } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { rowsAs, text } from "@tessera/kit/pg/table";
import { shredders } from "@tessera/values";
import type { EventName } from "./events.ts";

/** One use of an idempotency key. */
export interface KeyUse {
  /** The caller that uses it. */
  readonly caller: string;
  readonly key: string;
}

export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Null: an answer without a body. */
  readonly body: Buffer | null;
}

/** The right to process a request until the lease expires. */
export interface Claim extends KeyUse {
  readonly requestId: string;
  readonly attempt: number;
}

/** A request to be answered under a key. */
export interface KeyedRequest extends KeyUse {
  readonly requestHash: Buffer;
}

/** A request to be processed, and the event whose data its answer may show. */
export interface ClaimedRequest extends KeyedRequest {
  readonly of: EventName | undefined;
}

/** Why a request under a key cannot be claimed. */
export type Occupied =
  | { readonly kind: "answered"; readonly answer: KeptAnswer }
  | { readonly kind: "under way" }
  /** The key belongs to another request. */
  | { readonly kind: "taken" };

export type Claiming = { readonly kind: "claimed"; readonly claim: Claim } | Occupied;

/** Longer than any request may take. */
const leaseSeconds = 60;

/** The kinds of personal data that an answer, a copy of other services' data, may show. */
export const shownKinds = Object.keys(shredders).filter((kind) => kind !== "cachedtickets");

const keptHours = 24;

/** The answer has expired: the key is free again. */
const isOver = sql`kept_answer.created_at < now() - make_interval(hours => ${keptHours})`;

/** The event was deleted after the claim: the answer counts as erased. */
const isOfDeleted = (row: Sql) => sql`
  exists (select from deleted_event
           where deleted_event.organizer = ${row}.organizer
             and deleted_event.event = ${row}.event
             and deleted_event.deletion is distinct from ${row}.deletion)`;

const kept = sql`kept_answer`;

/** The request id; a new one if this is another request. */
const idUnless = (isAnother: Sql) => sql`case when ${isAnother} then gen_random_uuid() else kept_answer.request_id end`;

/**
 * Claims a request, unless it is answered, another process works on it, or its key belongs to another request. A
 * request whose lease expired without an answer is claimed again under its id. A request of a deleted event gets a new
 * id; otherwise services would repeat answers about that event. When an answer expires, its key is free again.
 */
export async function claimRequest(db: Queryable, request: ClaimedRequest): Promise<Claiming> {
  const { caller, key, requestHash, of } = request;
  const claimed = await db.maybeOne<{ request_id: string; attempt: number }>(sql`
    insert into kept_answer (caller, key, request_hash, leased_until, organizer, event, deletion)
    values (${caller}, ${key}, ${requestHash}, now() + make_interval(secs => ${leaseSeconds}),
            ${of?.organizer ?? null}, ${of?.event ?? null}, ${lastDeletion(of)})
        on conflict (caller, key) do update
       set request_hash = excluded.request_hash,
           request_id = ${idUnless(sql`${isOver} or ${isOfDeleted(kept)}`)},
           attempt = kept_answer.attempt + 1,
           leased_until = excluded.leased_until,
           status = null,
           headers = null,
           body = null,
           is_erased = false,
           organizer = excluded.organizer,
           event = excluded.event,
           deletion = excluded.deletion,
           created_at = case when ${isOver} then now() else kept_answer.created_at end
     where ${isOver}
        or (kept_answer.request_hash = excluded.request_hash
            and case when kept_answer.status is null then kept_answer.leased_until <= now() else ${isOfDeleted(kept)} end)
    returning kept_answer.request_id, kept_answer.attempt`);
  if (claimed !== undefined) {
    return { kind: "claimed", claim: { caller, key, requestId: claimed.request_id, attempt: claimed.attempt } };
  }
  // If the other claim has ended since the insert, the request was in progress a moment ago.
  return (await findRequest(db, request)) ?? { kind: "under way" };
}

/**
 * The last deletion of an event of this name; null: none is noted. While there is no event, services may still answer
 * with data of the deleted one: such a request gets an id that matches no deletion.
 */
function lastDeletion(of: EventName | undefined): Sql {
  if (of === undefined) return sql`null`;
  return sql`
    (select case when exists (select from event where event.organizer = ${of.organizer} and event.event = ${of.event})
                 then deleted_event.deletion
                 else gen_random_uuid() end
       from deleted_event
      where deleted_event.organizer = ${of.organizer}
        and deleted_event.event = ${of.event})`;
}

/** Returns why a request cannot be claimed, without claiming it; undefined: it can be. */
export async function findRequest(db: Queryable, request: KeyedRequest): Promise<Occupied | undefined> {
  const held = await findHeld(db, request);
  if (held === undefined) return undefined;
  if (!held.requestHash.equals(request.requestHash)) return { kind: "taken" };
  const { state } = held;
  return state.kind === "answered" || state.kind === "under way" ? state : undefined;
}

/**
 * Stores the answer to a claimed request, unless a later attempt has claimed the request. No answer is kept of a
 * deleted event, or of an event with erased personal data: it may show data read before, or data that another service
 * has still to erase.
 */
export async function keepAnswer(db: Db, claim: Claim, answer: KeptAnswer): Promise<void> {
  const { status, headers, body } = answer;
  const place = { organizer: sql`kept_answer.organizer`, event: sql`kept_answer.event` };
  const isGone = sql`(${isErased(place, shownKinds)} or ${isOfDeleted(kept)})`;
  const unlessErased = (value: Sql) => sql`case when not ${isGone} then ${value} end`;
  await db.run(sql`
    update kept_answer
       set status = ${unlessErased(sql`${status}::integer`)},
           headers = ${unlessErased(sql`${JSON.stringify(headers)}::jsonb`)},
           body = ${unlessErased(sql`${body}::bytea`)},
           is_erased = ${isGone},
           leased_until = now()
     where ${isMine(claim)}`);
}

/** Ends a claim without an answer: the next repetition can claim the request at once. */
export async function releaseRequest(db: Db, claim: Claim): Promise<void> {
  await db.run(sql`update kept_answer set leased_until = now() where ${isMine(claim)}`);
}

export type KeyState =
  | { readonly kind: "answered"; readonly answer: KeptAnswer }
  | { readonly kind: "under way" }
  /** The answer was erased, or not kept because data of its event was erased. */
  | { readonly kind: "erased" }
  /** Its process died, or its answer was transient. */
  | { readonly kind: "open" };

/** Finds the state of the request under a key; undefined: the caller has not used the key. */
export async function findAnswer(db: Queryable, use: KeyUse): Promise<KeyState | undefined> {
  return (await findHeld(db, use))?.state;
}

async function findHeld(
  db: Queryable,
  { caller, key }: KeyUse,
): Promise<{ readonly requestHash: Buffer; readonly state: KeyState } | undefined> {
  const held = await db.maybeOne<{
    request_hash: Buffer;
    is_leased: boolean;
    is_erased: boolean;
    is_of_deleted: boolean;
    status: number | null;
    headers: Record<string, string>;
    body: Buffer | null;
  }>(sql`
    select kept_answer.request_hash, kept_answer.leased_until > now() as is_leased, kept_answer.is_erased,
           ${isOfDeleted(kept)} as is_of_deleted, kept_answer.status, kept_answer.headers, kept_answer.body
      from kept_answer
     where kept_answer.caller = ${caller}
       and kept_answer.key = ${key}
       and not ${isOver}`);
  if (held === undefined) return undefined;
  const { request_hash: requestHash, status, headers, body } = held;
  const toHeld = (state: KeyState) => ({ requestHash, state });
  if (status !== null)
    return toHeld(held.is_of_deleted ? { kind: "erased" } : { kind: "answered", answer: { status, headers, body } });
  if (held.is_leased) return toHeld({ kind: "under way" });
  return toHeld({ kind: held.is_erased ? "erased" : "open" });
}

/** Few enough to hold the row locks briefly. */
const mostDeleted = 5000;

/** Fewer, because requests and this erasure wait for each other. */
const mostErased = 500;

/** Deletes expired answers; returns whether more may be left. */
export async function deleteOldAnswers(db: Db): Promise<boolean> {
  const deleted = await db.run(sql`
    delete from kept_answer
     where (kept_answer.caller, kept_answer.key) in (
       select old.caller, old.key
         from kept_answer as old
        where old.created_at < now() - make_interval(hours => ${keptHours})
        limit ${mostDeleted}
          for update skip locked)`);
  return deleted === mostDeleted;
}

/** Finds the callers with at least this many kept answers. */
export async function findFullCallers(
  db: Queryable,
  { most }: { readonly most: number },
): Promise<ReadonlySet<string>> {
  const rows = await db.many<{ caller: string }>(sql`
    select kept_answer.caller
      from kept_answer
     group by kept_answer.caller
    having count(*) >= ${most}`);
  return new Set(rows.map(({ caller }) => caller));
}

/** Invalidates all kept answers about deleted events: from this transaction on they are neither repeated nor shown. */
export async function noteDeleted(tx: Queryable, events: readonly EventName[]): Promise<void> {
  if (events.length === 0) return;
  await tx.run(sql`
    insert into deleted_event (organizer, event)
    select gone.organizer, gone.event
      from ${rowsAs("gone", { organizer: text, event: text }, events)}
     order by gone.organizer collate "C", gone.event collate "C"
        on conflict (organizer, event) do update
           set deletion = excluded.deletion,
               deleted_at = excluded.deleted_at`);
}

/** Deletes notes of deletions older than any kept answer. */
export async function forgetDeletions(db: Queryable): Promise<void> {
  await db.run(
    sql`delete from deleted_event where deleted_event.deleted_at < now() - make_interval(hours => ${2 * keptHours})`,
  );
}

/** Finds events that no longer exist but whose data kept answers show, and recently deleted events. */
export async function findGoneEvents(db: Queryable): Promise<EventName[]> {
  return db.many<EventName>(sql`
    select kept_answer.organizer, kept_answer.event
      from kept_answer
     where kept_answer.event is not null
       and not exists (select
                         from event
                        where event.organizer = kept_answer.organizer
                          and event.event = kept_answer.event)
    union
    select deleted_event.organizer, deleted_event.event
      from deleted_event`);
}

/** Counts the kept answers that show data of an event. */
export async function countAnswers(db: Queryable, { organizer, event }: EventName): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from kept_answer
     where kept_answer.organizer = ${organizer}
       and kept_answer.event = ${event}
       and kept_answer.status is not null`);
  return count;
}

/**
 * Erases answers that show data of an event; returns how many, and whether more may be left. A repeated request is
 * processed again under its id, by which services recognise what they have done: it takes effect once, and its answer
 * shows the remaining data. Requests in progress are skipped; an answer being repeated is waited for.
 */
export function eraseAnswers(db: Queryable, of: EventName): Promise<Erased> {
  return eraseWhere(db, of, () => sql`true`);
}

/** The same for a deleted event: answers about another event of its name stay. */
export function eraseAnswersOfDeleted(db: Queryable, of: EventName): Promise<Erased> {
  const isMissing = sql`
    not exists (select from event where event.organizer = ${of.organizer} and event.event = ${of.event})`;
  return eraseWhere(db, of, (row) => sql`(${isMissing} or ${isOfDeleted(row)})`);
}

interface Erased {
  readonly count: number;
  readonly isMore: boolean;
}

async function eraseWhere(
  db: Queryable,
  { organizer, event }: EventName,
  condition: (row: Sql) => Sql,
): Promise<Erased> {
  const [old, held] = [sql`old`, sql`held`];
  // Finds a batch first, and then locks it in key order, so that two processes may erase concurrently; rows that have
  // changed are skipped. No index serves the second comparison: the rows are read by key.
  const erased = await db.run(sql`
    with old as materialized (
      select old.caller, old.key
        from kept_answer as old
       where old.organizer = ${organizer}
         and old.event = ${event}
         and old.status is not null
         and ${condition(old)}
       limit ${mostErased}
    ), locked as materialized (
      select held.caller, held.key
        from old
        join kept_answer as held on held.caller = old.caller and held.key = old.key
       where held.organizer is not distinct from ${organizer}
         and held.event is not distinct from ${event}
         and held.status is not null
         and ${condition(held)}
       order by held.caller, held.key
         for update of held
    )
    update kept_answer
       set status = null, headers = null, body = null, leased_until = now(), organizer = null, event = null, is_erased = true,
           request_id = ${idUnless(isOfDeleted(kept))}
      from locked
     where kept_answer.caller = locked.caller
       and kept_answer.key = locked.key`);
  return { count: erased, isMore: erased === mostErased };
}

/** The row of a claim. After its answer has expired another request may have claimed the key. */
function isMine({ caller, key, requestId, attempt }: Claim) {
  return sql`
    kept_answer.caller = ${caller} and kept_answer.key = ${key}
    and kept_answer.request_id = ${requestId}::uuid and kept_answer.attempt = ${attempt}`;
}
