import { writeStatements } from "@tessera/testkit/write-statements";
import { expect, it } from "vitest";
import { pageBatches } from "./stored-batches.ts";

const event = { organizer: "org", event: "fest" };

it("asks for its reviewed statements", async () => {
  const statements = await writeStatements([["pageBatches", (db) => pageBatches(db, event, { limit: 50, offset: 0 })]]);
  await expect(statements).toMatchFileSnapshot("statements/stored-batches.sql");
});
