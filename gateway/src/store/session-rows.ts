import type { Queryable } from "@tessera/kit/pg/database";
import { inMicroseconds } from "@tessera/kit/pg/instants";
import { type Sql, sql } from "@tessera/kit/pg/sql";

/** What a link or a session opens. */
export interface Grant {
  readonly organizer: string;
  /** What the person or the screen is called. */
  readonly name: string;
  readonly permissions: readonly string[];
  readonly allEvents: boolean;
  /** Only these, unless it is good for all. */
  readonly events: readonly string[];
}

/** `open`: the link was not opened yet. */
export type SessionState = "open" | "in use" | "ended" | "revoked";

/** A link and the session that it became. Instants are in microseconds since 1970. */
export interface Session extends Grant {
  readonly id: string;
  readonly state: SessionState;
  readonly createdAt: number;
  /** When the session ends; of a link that was not opened, the link. */
  readonly endsAt: number;
  readonly endsInMs: number;
  readonly beganAt: number | null;
}

const state = sql`
  case when session.revoked_at is not null then 'revoked'
       when session.left_at is not null or coalesce(session.ends_at, session.link_ends_at) <= now() then 'ended'
       when session.token_hash is null then 'open'
       else 'in use' end`;

const endsAt = sql`coalesce(session.ends_at, session.link_ends_at)`;

const shown = sql`
  session.id, session.organizer, session.name, session.permissions, session.all_events as "allEvents", session.events,
  ${state} as state, ${inMicroseconds(sql`session.created_at`)} as "createdAt", ${inMicroseconds(endsAt)} as "endsAt",
  (extract(epoch from ${endsAt} - now()) * 1000)::bigint as "endsInMs", ${inMicroseconds(sql`session.began_at`)} as "beganAt"`;

export interface NewLink extends Grant {
  readonly id: string;
  readonly linkHash: Buffer;
  /** How long the link works, and the session that it becomes. */
  readonly linkSeconds: number;
  readonly seconds: number;
}

/** Stores a link, unless the same request has stored it before. */
export async function insertLink(db: Queryable, link: NewLink): Promise<Session> {
  await db.run(sql`
    insert into session (id, organizer, name, permissions, all_events, events, link_hash, link_ends_at, seconds)
    values (${link.id}, ${link.organizer}, ${link.name}, ${link.permissions}::text[], ${link.allEvents},
            ${link.events}::text[], ${link.linkHash}, now() + make_interval(secs => ${link.linkSeconds}), ${link.seconds})
        on conflict (link_hash) do nothing`);
  return db.one<Session>(sql`select ${shown} from session where session.link_hash = ${link.linkHash}`);
}

export interface NewSession extends Grant {
  readonly id: string;
  readonly tokenHash: Buffer;
  readonly seconds: number;
}

/** Stores a session that began without a link. */
export function insertSession(db: Queryable, session: NewSession): Promise<Session> {
  return db.one<Session>(sql`
    insert into session (id, organizer, name, permissions, all_events, events, seconds, token_hash, began_at, ends_at)
    values (${session.id}, ${session.organizer}, ${session.name}, ${session.permissions}::text[], ${session.allEvents},
            ${session.events}::text[], ${session.seconds}, ${session.tokenHash}, now(),
            now() + make_interval(secs => ${session.seconds}))
    returning ${shown}`);
}

/** Makes a session of a link that is open, which only one of all who try at once can. */
export function redeemLink(
  db: Queryable,
  { linkHash, tokenHash }: { readonly linkHash: Buffer; readonly tokenHash: Buffer },
): Promise<Session | undefined> {
  return db.maybeOne<Session>(sql`
    update session
       set token_hash = ${tokenHash},
           began_at = now(),
           ends_at = now() + make_interval(secs => session.seconds)
     where session.link_hash = ${linkHash}
       and session.token_hash is null
       and session.revoked_at is null
       and session.link_ends_at > now()
    returning ${shown}`);
}

export function findLink(db: Queryable, linkHash: Buffer): Promise<Session | undefined> {
  return db.maybeOne<Session>(sql`select ${shown} from session where session.link_hash = ${linkHash}`);
}

export function findSession(db: Queryable, tokenHash: Buffer): Promise<Session | undefined> {
  return db.maybeOne<Session>(sql`select ${shown} from session where session.token_hash = ${tokenHash}`);
}

interface SessionKey {
  readonly organizer: string;
  readonly id: string;
}

const isThis = ({ organizer, id }: SessionKey): Sql => sql`session.organizer = ${organizer} and session.id = ${id}`;

/** Notes that the person signed out. */
export async function leaveSession(db: Queryable, key: SessionKey): Promise<void> {
  await db.run(sql`update session set left_at = now() where ${isThis(key)} and session.left_at is null`);
}

/** Revokes a link or a session; false: the organizer has no such one. */
export async function revokeSession(db: Queryable, key: SessionKey): Promise<boolean> {
  const revoked = await db.run(
    sql`update session set revoked_at = coalesce(session.revoked_at, now()) where ${isThis(key)}`,
  );
  return revoked > 0;
}

export async function countSessions(db: Queryable, organizer: string): Promise<number> {
  const { count } = await db.one<{ count: number }>(
    sql`select count(*) as count from session where session.organizer = ${organizer}`,
  );
  return count;
}

/** A part of an organizer's links and sessions, the latest first. */
export function pageSessions(
  db: Queryable,
  { organizer, limit, offset }: { readonly organizer: string; readonly limit: number; readonly offset: number },
): Promise<Session[]> {
  return db.many<Session>(sql`
    select ${shown}
      from session
     where session.organizer = ${organizer}
     order by session.created_at desc, session.id desc
     limit ${limit} offset ${offset}`);
}

/** How long a session that is over is still listed and refused with its reason. */
const keptDays = 7;

/** Few enough to hold the row locks briefly. */
const mostDeleted = 1000;

/** Deletes what has been over for days; returns whether more may be left. */
export async function deleteOldSessions(db: Queryable): Promise<boolean> {
  const deleted = await db.run(sql`
    delete from session
     where session.id in (
       select old.id
         from session as old
        where coalesce(old.ends_at, old.link_ends_at) < now() - make_interval(days => ${keptDays})
        limit ${mostDeleted}
          for update skip locked)`);
  return deleted === mostDeleted;
}
