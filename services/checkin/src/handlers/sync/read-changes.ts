import type { Db } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import type { Call } from "@tessera/kit/rpc";
import type { ReadChangesRequest, ReadChangesResponse } from "@tessera/protos/gen/ticketing/checkin/v1/sync";
import { isSlug } from "@tessera/values";
import { fault } from "../../faults.ts";
import { findKnownEvents } from "../../store/events.ts";
import { type Asked, type Cursor, nameScope, readCursor, writeCursor } from "../../wire/sync-cursor.ts";
import type { FindCodeHash } from "./code-hashes.ts";
import type { Followers } from "./followers.ts";
import { noCursor } from "./no-cursor.ts";
import { type Lines, readLines } from "./read-lines.ts";
import { beginCopy } from "./read-step.ts";

export interface SyncDeps {
  readonly reads: Reads;
  readonly followers: Followers;
  readonly findCodeHash: FindCodeHash;
}

const longestWaitMs = 30_000;

/** Reads the next part of the feed of an organizer; waits for changes where there is nothing to read. */
export async function readChanges(
  { organizer, among, mustExist, hashed, after, waitMs }: ReadChangesRequest,
  { reads, followers, findCodeHash }: SyncDeps,
  { signal }: Pick<Call, "signal">,
): Promise<ReadChangesResponse> {
  refuse((among?.slugs ?? []).filter((slug) => !isSlug(slug)));
  const hash = hashed ? (await findCodeHash(organizer)).hash : undefined;
  const asked: Asked = { organizer, events: among?.slugs.toSorted(), hash };
  const scope = nameScope(asked);
  const read = (cursor: Cursor) => reads.inTurn(organizer, (db) => readLines(db, asked, cursor));
  if (after === "") {
    const begun = await reads.inTurn(organizer, async (db) => {
      if (mustExist) await requireEvents(db, asked);
      return beginCopy(db, { organizer, scope });
    });
    return toResponse(await read(begun));
  }
  const cursor = requireCursor(after, organizer);
  if (cursor.scope !== scope) return toResponse(undefined);
  if (waitMs === 0 || cursor.place !== null) return toResponse(await read(cursor));
  const follower = await followers.of(asked, scope);
  let [seen, count] = [after, await follower.countAt(after)];
  if (count === undefined) {
    const own = await follower.besides(() => read(cursor));
    const { lines } = own;
    if (lines === undefined || lines.bytes.length > 0 || !lines.isComplete) return toResponse(lines);
    [seen, count] = [writeCursor(lines.cursor), own.count];
  }
  const news = await follower.newsBehind(count, { waitMs: Math.min(waitMs, longestWaitMs), signal });
  return {
    lines: Buffer.concat((news ?? []).map(({ bytes }) => bytes)),
    cursor: news?.at(-1)?.cursor ?? seen,
    // News that are no longer kept the reader reads by itself.
    isComplete: news !== undefined && news.at(-1)?.isComplete !== false,
    isTooOld: false,
  };
}

async function requireEvents(db: Db, { organizer, events = [] }: Asked): Promise<void> {
  const known = await findKnownEvents(db, { organizer, events });
  refuse(events.filter((event) => !known.includes(event)));
}

function refuse(unknown: readonly string[]): void {
  if (unknown.length > 0)
    throw fault("unknown_events", `There is no event ${unknown.join(", ")}, or you have no access to it.`);
}

function requireCursor(text: string, organizer: string): Cursor {
  const cursor = readCursor(text);
  if (cursor === undefined || cursor.organizer !== organizer) throw noCursor();
  return cursor;
}

/** Undefined: the cursor is too old. */
function toResponse(read: Lines | undefined): ReadChangesResponse {
  if (read === undefined) return { lines: Buffer.alloc(0), cursor: "", isComplete: false, isTooOld: true };
  return { lines: read.bytes, cursor: writeCursor(read.cursor), isComplete: read.isComplete, isTooOld: false };
}
