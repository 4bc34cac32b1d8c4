import type { Db, Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";

/** Names one use of an idempotency key. */
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

/** The right to work on a request until the lease ends. */
export interface Claim extends KeyUse {
  readonly requestId: string;
  readonly attempt: number;
}

/** A request that is to be answered under a key. */
export interface KeyedRequest extends KeyUse {
  readonly requestHash: Buffer;
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

const keptHours = 24;

const keptHeaders = sql`kept_answer.status, kept_answer.headers, kept_answer.body`;

/**
 * Claims a request, unless it is answered, another process works on it, or its key belongs to another request. A request
 * that lost its lease without an answer is claimed again under the same id. After a day a key is free again.
 */
export async function claimRequest(db: Queryable, request: KeyedRequest): Promise<Claiming> {
  const { caller, key, requestHash } = request;
  const isOld = sql`kept_answer.created_at < now() - make_interval(hours => ${keptHours})`;
  const claimed = await db.maybeOne<{ request_id: string; attempt: number }>(sql`
    insert into kept_answer (caller, key, request_hash, leased_until)
    values (${caller}, ${key}, ${requestHash}, now() + make_interval(secs => ${leaseSeconds}))
        on conflict (caller, key) do update
       set request_hash = excluded.request_hash,
           request_id = case when ${isOld} then gen_random_uuid() else kept_answer.request_id end,
           attempt = kept_answer.attempt + 1,
           leased_until = excluded.leased_until,
           status = null,
           headers = null,
           body = null,
           created_at = case when ${isOld} then now() else kept_answer.created_at end
     where ${isOld}
        or (kept_answer.status is null
            and kept_answer.leased_until <= now()
            and kept_answer.request_hash = excluded.request_hash)
    returning kept_answer.request_id, kept_answer.attempt`);
  if (claimed !== undefined) {
    return { kind: "claimed", claim: { caller, key, requestId: claimed.request_id, attempt: claimed.attempt } };
  }
  // If the other claim has ended since the insert, the request was under way a moment ago.
  return (await findRequest(db, request)) ?? { kind: "under way" };
}

/** Returns why a request cannot be claimed, without claiming it; undefined: it can be. */
export async function findRequest(db: Queryable, { requestHash, ...use }: KeyedRequest): Promise<Occupied | undefined> {
  const held = await db.maybeOne<{
    is_same: boolean;
    is_leased: boolean;
    status: number | null;
    headers: Record<string, string>;
    body: Buffer | null;
  }>(sql`
    select kept_answer.request_hash = ${requestHash} as is_same, kept_answer.leased_until > now() as is_leased,
           ${keptHeaders}
      from kept_answer
     where ${isUse(use)}`);
  if (held === undefined) return undefined;
  if (!held.is_same) return { kind: "taken" };
  if (held.status !== null) {
    return { kind: "answered", answer: { status: held.status, headers: held.headers, body: held.body } };
  }
  return held.is_leased ? { kind: "under way" } : undefined;
}

/** Stores the answer to a claimed request, unless a later attempt has claimed it. */
export async function keepAnswer(db: Db, claim: Claim, { status, headers, body }: KeptAnswer): Promise<void> {
  await db.run(sql`
    update kept_answer
       set status = ${status}, headers = ${JSON.stringify(headers)}::jsonb, body = ${body}, leased_until = now()
     where ${isMine(claim)}`);
}

/** Ends a claim without an answer: the next repetition can claim the request at once. */
export async function releaseRequest(db: Db, claim: Claim): Promise<void> {
  await db.run(sql`update kept_answer set leased_until = now() where ${isMine(claim)}`);
}

/** Finds the answer under a key; undefined if its caller has not used the key. */
export async function findAnswer(
  db: Queryable,
  use: KeyUse,
): Promise<{ readonly answer: KeptAnswer | undefined } | undefined> {
  const held = await db.maybeOne<{ status: number | null; headers: Record<string, string>; body: Buffer | null }>(sql`
    select ${keptHeaders}
      from kept_answer
     where ${isUse(use)}`);
  if (held === undefined) return undefined;
  const { status, ...rest } = held;
  return { answer: status === null ? undefined : { status, ...rest } };
}

/** Few enough to hold the row locks briefly. */
const mostDeleted = 5000;

/** Deletes answers older than a day; returns whether more of them may be left. */
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

/** The row of a key that is not free again. */
function isUse({ caller, key }: KeyUse) {
  return sql`
    kept_answer.caller = ${caller} and kept_answer.key = ${key}
       and kept_answer.created_at >= now() - make_interval(hours => ${keptHours})`;
}

function isMine({ caller, key, attempt }: Claim) {
  return sql`kept_answer.caller = ${caller} and kept_answer.key = ${key} and kept_answer.attempt = ${attempt}`;
}
