import { createHash } from "node:crypto";
import { isObject, isSlug } from "@tessera/values";
import type { KindOfEvents } from "../store/synced-rows.ts";
import type { HashCode } from "./hash-code.ts";

/** What a reader of the feed asks for. */
export interface Asked {
  readonly organizer: string;
  /** In ascending order. Undefined: all events of the organizer. */
  readonly events: readonly string[] | undefined;
  /** Codes are hashed, and nothing names a person. */
  readonly hash?: HashCode | undefined;
}

/** What a reader of the feed has seen. */
export interface Cursor {
  readonly organizer: string;
  /** What the reader asked for. */
  readonly scope: string;
  readonly epoch: string;
  /** A snapshot of the database, as PostgreSQL writes it: what it contains was read, or is read up to `place`. */
  readonly since: string;
  /** Null: all that `since` contains was read. */
  readonly place: Place | null;
}

/** The position of a reader within a snapshot. */
export type Place =
  /**
   * In the first copy, which began at `since`: all up to this entity was read, in the order of events, kinds and ids. The copy begins
   * in the event "", before all others.
   */
  | { readonly in: "events"; readonly event: string; readonly kind: KindOfEvents; readonly id: number }
  /** The copy ends with the media, which are of no event. */
  | { readonly in: "media"; readonly id: number }
  /** Among the changes from `since` to `until`: all up to this one was read. */
  | { readonly in: "changes"; readonly until: string; readonly changedIn: string; readonly id: number };

const version = 1;

/** Long enough that a damaged cursor is never taken for another one. */
const checkLength = 8;

/** A snapshot names each transaction that is open; there are at most some thousand. */
const longestCursor = 20_000;

/** Writes a cursor as a text that is passed on unread. Equal cursors are equal texts. */
export function writeCursor({ organizer, scope, epoch, since, place }: Cursor): string {
  const content = Buffer.from(JSON.stringify([version, organizer, scope, epoch, since, place]));
  return Buffer.concat([checkOf(content), content]).toString("base64url");
}

/**
 * Reads a cursor; undefined: the text is no cursor. The check finds damage, and nothing else: anybody can make one that is whole. So a cursor
 * grants nothing. What it says is used only where the database can read it, and its place only among what the reader asks for.
 */
export function readCursor(text: string): Cursor | undefined {
  if (text.length > longestCursor) return undefined;
  const content = Buffer.from(text, "base64url").subarray(checkLength);
  try {
    const cursor = toCursor(JSON.parse(content.toString()) as unknown);
    // Each cursor has one text: no other spelling of it is read.
    return cursor !== undefined && writeCursor(cursor) === text ? cursor : undefined;
  } catch {
    return undefined;
  }
}

function toCursor(content: unknown): Cursor | undefined {
  if (!Array.isArray(content) || content[0] !== version) return undefined;
  const [, organizer, scope, epoch, since, sentPlace] = content as readonly unknown[];
  const place = toPlace(sentPlace);
  if (!isSlug(organizer) || !isText(scope) || !isText(epoch) || !isSnapshot(since) || place === undefined)
    return undefined;
  return { organizer, scope, epoch, since, place };
}

const kinds: Readonly<Record<KindOfEvents, true>> = {
  event: true,
  subevent: true,
  item: true,
  question: true,
  list: true,
  revoked: true,
  blocked: true,
  ticket: true,
};

function toPlace(value: unknown): Place | null | undefined {
  if (value === null) return null;
  if (!isObject(value) || !isId(value.id)) return undefined;
  const { in: where, event, kind, id, until, changedIn } = value;
  switch (where) {
    case "events":
      return (event === "" || isSlug(event)) && isKind(kind) ? { in: where, event, kind, id } : undefined;
    case "media":
      return { in: where, id };
    case "changes":
      return isSnapshot(until) && isText(changedIn) && isTransaction(changedIn)
        ? { in: where, until, changedIn, id }
        : undefined;
    default:
      return undefined;
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isKind(value: unknown): value is KindOfEvents {
  return isText(value) && Object.hasOwn(kinds, value);
}

/** -1 is before all ids. */
function isId(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= -1;
}

/** A number of a transaction has 64 bits; those with 19 digits are far off. */
function isTransaction(text: string): boolean {
  return /^[1-9]\d{0,18}$/.test(text);
}

/** As PostgreSQL reads it: `first:end:open,open`, where the open transactions ascend from the first one, and end before the end. */
function isSnapshot(value: unknown): value is string {
  if (!isText(value)) return false;
  const [first = "", end = "", listed, ...more] = value.split(":");
  if (listed === undefined || more.length > 0) return false;
  const open = listed === "" ? [] : listed.split(",");
  if (![first, end, ...open].every(isTransaction) || BigInt(first) > BigInt(end)) return false;
  const numbers = open.map(BigInt);
  const ascend = numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? number));
  return ascend && numbers.every((number) => number >= BigInt(first) && number < BigInt(end));
}

function checkOf(content: Uint8Array): Buffer {
  return createHash("sha256").update(content).digest().subarray(0, checkLength);
}

/** A short name of what a reader asks for: its cursors are of no use for anything else. */
export function nameScope({ events, hash }: Asked): string {
  const asked = JSON.stringify([events === undefined ? null : [...new Set(events)], hash !== undefined]);
  return createHash("sha256").update(asked).digest("base64url").slice(0, 12);
}
