import { getPriority } from "node:os";
import { twoSchemas } from "@tessera/testkit/two-schemas";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createLog } from "../log.ts";
import { giveWayInDatabase } from "./give-way.ts";
import { openReads } from "./reads.ts";
import { sql } from "./sql.ts";
import { openUrgent } from "./urgent.ts";

/** Of what gives way. Tests may run with a lower priority than that. */
const given = Math.max(7, getPriority());

const database = twoSchemas();
const log = createLog({ service: "test", destination: { write: () => {} } });
const connection = () => ({ url: database.url, schema: "alpha", applicationName: "alpha", log });
const ownProcess = sql`select pg_backend_pid() as pid`;

// Of processes on this machine alone Linux says whose they are.
describe.runIf(process.platform === "linux")("what a connection does in a server on this machine", () => {
  it("gives way if it is said so, in pools and outside of them", async () => {
    const db = database.open({ givesWay: true });
    const outside = await db.dedicated();
    onTestFinished(() => outside.release());
    for (const each of [db, outside]) {
      const { pid } = await each.one<{ pid: number }>(ownProcess);
      await vi.waitFor(() => expect(getPriority(pid)).toBe(given));
    }
  });

  it("gives no way otherwise: not what is urgent, and not reads that a caller waits for", async () => {
    const [urgent, reads] = [openUrgent(connection()), openReads(connection())];
    for (const each of [urgent, reads]) onTestFinished(() => each.close());
    const found = [
      await database.open().one<{ pid: number }>(ownProcess),
      await urgent.one<{ pid: number }>(ownProcess),
      await reads.inTurn("alpha", (on) => on.one<{ pid: number }>(ownProcess)),
    ];
    // By then one that gives way would have.
    const last = await database.open({ givesWay: true }).one<{ pid: number }>(ownProcess);
    await vi.waitFor(() => expect(getPriority(last.pid)).toBe(given));
    for (const { pid } of found) expect(getPriority(pid)).toBe(getPriority());
  });

  it("is left as it is where the number of its process is that of another program, or the server is elsewhere", async () => {
    const before = getPriority();
    const at = (host: string) => ({ host, processID: process.pid }) as never;
    await giveWayInDatabase(at("/run/postgresql"));
    await giveWayInDatabase(at("database.example.org"));
    expect(getPriority()).toBe(before);
  });
});
