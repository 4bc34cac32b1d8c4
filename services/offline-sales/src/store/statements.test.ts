import { writeStatements } from "@tessera/testkit/write-statements";
import { expect, it } from "vitest";
import { pageBatches } from "./batches.ts";

const batches = { organizer: "org", event: "fest", item: 1 };
const page = (...ordering: string[]) => ({ ordering, limit: 50, offset: 0 });

it("asks for its reviewed statements", async () => {
  const statements = await writeStatements([
    ["pageBatches", (db) => pageBatches(db, batches, page())],
    ["pageBatches, in an order", (db) => pageBatches(db, batches, page("-creation"))],
  ]);
  await expect(statements).toMatchFileSnapshot("statements/batches.sql");
});
