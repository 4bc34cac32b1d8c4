import { expect, it } from "vitest";
import { shareOut } from "./where-time-goes.ts";

const node = (id: number, url: string, children: readonly number[] = [], functionName = "f") => ({
  id,
  callFrame: { functionName, url },
  children,
});

const nodes = [
  node(1, "", [2, 9, 10, 11], "(root)"),
  node(2, "node:_http_server", [3]),
  node(3, "file:///tessera/gateway/dist/routes/redeem/routes.js", [4, 5]),
  node(4, "file:///tessera/packages/schema/dist/read.js"),
  node(5, "file:///tessera/packages/kit/dist/rpc.js", [6]),
  node(6, "file:///tessera/services/checkin/dist/handlers/redeem.js", [7, 8]),
  node(7, "file:///tessera/node_modules/.pnpm/pg@8/node_modules/pg/lib/client.js", [12]),
  node(8, "file:///tessera/packages/kit/dist/bus/relay.js"),
  node(9, "", [], "(idle)"),
  node(10, "", [], "(garbage collector)"),
  node(11, "node:internal/timers"),
  node(12, "", [], "writev"),
];

it("a part takes the time of its code and of what that calls, up to the next part", () => {
  const samples = [2, 3, 4, 5, 6, 7, 12, 8, 10, 11];
  expect(shareOut({ nodes, samples, timeDeltas: samples.map(() => 100) })).toEqual({
    HTTP: 0.1,
    gateway: 0.2,
    transport: 0.1,
    service: 0.1,
    database: 0.2,
    relay: 0.1,
    garbage: 0.1,
    "Node.js": 0.1,
  });
});

it("time without work is none", () => {
  expect(shareOut({ nodes, samples: [9, 3], timeDeltas: [900, 100] }).gateway).toBe(1);
  expect(shareOut({ nodes, samples: [9], timeDeltas: [900] }).gateway).toBe(0);
});
