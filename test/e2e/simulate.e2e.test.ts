import { openDatabase } from "@tessera/kit/pg/database";
import { identifier, sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runCommand } from "./command.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

const quiet = createLog({ service: "test", destination: { write: () => {} } });
let platform: TestPlatform;

beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform?.stop());

function simulate(...args: string[]) {
  const environment = { TESSERA_OPERATOR_KEY: platform.operatorKey };
  return runCommand(["simulate", ...args], environment).ended;
}

/** The tables that hold something of a simulation. */
async function findLeft(): Promise<string[]> {
  const db = openDatabase({ url: platform.databaseUrl, schema: "public", applicationName: "test", log: quiet });
  try {
    // Lists and scans of a deleted event are kept for a day.
    const tables = ["boxoffice.event", "boxoffice.position", "checkin.event", "checkin.position", "checkin.presence"];
    const counted = await Promise.all(
      [...tables, "gateway.credential"].map(async (table) => {
        const [schema = "", name = ""] = table.split(".");
        const { count } = await db.one<{ count: number }>(
          sql`select count(*)::bigint as count from ${identifier(schema)}.${identifier(name)} where organizer like 'simulation-%'`,
        );
        return count === 0 ? [] : [`${count} in ${table}`];
      }),
    );
    return counted.flat();
  } finally {
    await db.close();
  }
}

it("visitors come to gates that lose their network for a while: all of them are counted, and nothing of it stays", async () => {
  const size = ["--gates", "5", "--arrivals", "36000", "--minutes", "0.1", "--outage", "3"];
  const { code, stdout, stderr } = await simulate("--url", platform.baseUrl, ...size);
  expect(stderr).toMatch(/^Watch it: http:\S+\/board\/#link=\S+\n$/);
  // A machine with other work may be too slow, and nothing else may be wrong.
  const isSlow = /wait of 99 of 100 +[1-9]\d{3}/.test(stdout);
  expect(stdout).toContain(isSlow ? "It does not hold." : "It holds.");
  expect(code).toBe(isSlow ? 1 : 0);
  expect(stdout).toMatch(/wrong answers +0 +0\n/);
  expect(stdout).toMatch(/without an answer +0 +0\n/);
  const [, admitted] = /visitors admitted, refused +(\d+), \d+/.exec(stdout) ?? [];
  const [, uploaded] = /decided without network, stored after .*? ms +(\d+)/.exec(stdout) ?? [];
  const [, counted] = /counted by the list +(\d+)/.exec(stdout) ?? [];
  expect(Number(uploaded)).toBeGreaterThan(3);
  expect(Number(admitted)).toBeGreaterThan(15);
  expect(Number(counted)).toBe(Number(admitted) + Number(uploaded));
  await expect.poll(findLeft).toEqual([]);
});
