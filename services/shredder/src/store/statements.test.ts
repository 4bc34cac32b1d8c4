import type { Tx } from "@tessera/kit/pg/database";
import { type Asked, writeStatements } from "@tessera/testkit/write-statements";
import { expect, it } from "vitest";
import { findDue, findErased, pageUpcoming } from "./announcements.ts";
import { findCase, nextRequested, pageErased } from "./cases.ts";
import { storeFile } from "./exports.ts";
import { nextRound, type Round, turnPage } from "./retention-rows.ts";

const place = { organizer: "org", event: "fest" };
const id = "00000000-0000-4000-8000-000000000000";
const named = { ...place, id };
const page = { organizer: "org", before: 0, limit: 50, offset: 0 };
const round: Round = { organizer: "org", days: 30, kinds: [], changedAt: 0, organizerCreatedAt: 0, after: "", now: 0 };

const statements: Readonly<Record<string, readonly Asked<Tx>[]>> = {
  announcements: [
    ["findErased", (tx) => findErased(tx, round, [{ event: "fest", endedAt: 0 }])],
    ["findDue", (db) => findDue(db)],
    ["pageUpcoming", (db) => pageUpcoming(db, page)],
  ],
  cases: [
    ["findCase, of the organizer", (db) => findCase(db, { ...named, event: undefined })],
    ["findCase, of an event", (db) => findCase(db, named)],
    ["nextRequested, the first", (db) => nextRequested(db, { after: undefined, limit: 100 })],
    ["nextRequested, others", (db) => nextRequested(db, { after: named, limit: 100 })],
    ["pageErased", (db) => pageErased(db, page)],
  ],
  exports: [["storeFile", (tx) => storeFile(tx, named, { fileKey: "a", sha256: "a" })]],
  "retention-rows": [
    ["nextRound", (db) => nextRound(db)],
    ["turnPage", (tx) => turnPage(tx, round, { next: "", roundMinutes: 60 })],
  ],
};

it.each(Object.entries(statements))("%s asks for its reviewed statements", async (file, asked) => {
  await expect(await writeStatements(asked)).toMatchFileSnapshot(`statements/${file}.sql`);
});
