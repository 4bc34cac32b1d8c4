import type { Queryable } from "@tessera/kit/pg/database";
import { type Asked, writeStatements } from "@tessera/testkit/write-statements";
import { expect, it } from "vitest";
import { countAssignments, findAssignment, findOfItems, findOfLayouts, pageAssignments } from "./assigned-layouts.ts";
import {
  clearDefault,
  countLayouts,
  findBackground,
  findDefault,
  findLayoutIds,
  findLayouts,
  pageLayouts,
  promoteFirst,
} from "./stored-layouts.ts";

const place = { organizer: "org", event: "fest" };
const page = { limit: 50, offset: 0 };

const statements: Readonly<Record<string, readonly Asked<Queryable>[]>> = {
  "assigned-layouts": [
    ["countAssignments", (db) => countAssignments(db, place)],
    ["pageAssignments", (db) => pageAssignments(db, place, page)],
    ["findAssignment", (db) => findAssignment(db, { ...place, id: 1 })],
    ["findOfLayouts", (db) => findOfLayouts(db, place, [1])],
    ["findOfItems", (db) => findOfItems(db, place, [1])],
  ],
  "stored-layouts": [
    ["countLayouts", (db) => countLayouts(db, place)],
    ["pageLayouts", (db) => pageLayouts(db, place, page)],
    ["findLayouts", (db) => findLayouts(db, place, [1])],
    ["findLayoutIds", (db) => findLayoutIds(db, place, [1])],
    ["findDefault", (db) => findDefault(db, place)],
    ["clearDefault", (tx) => clearDefault(tx, place)],
    ["promoteFirst", (tx) => promoteFirst(tx, place)],
    ["findBackground", (db) => findBackground(db, { ...place, name: "a" })],
  ],
};

it.each(Object.entries(statements))("%s asks for its reviewed statements", async (file, asked) => {
  await expect(await writeStatements(asked)).toMatchFileSnapshot(`statements/${file}.sql`);
});
