import { createServer } from "node:net";
import { serveGrpc } from "@tessera/engines/grpc/server";
import { connect, implement } from "@tessera/kit/rpc";
import { createLog } from "@tessera/kit/telemetry/log";
import { FactsServiceService } from "@tessera/protos/gen/platform/v1/facts";
import { afterEach, describe, expect, it } from "vitest";
import { type Network, socketNetwork } from "./network.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });
const facts = implement(FactsServiceService, {
  markFacts: async () => ({ marker: "here", partitions: [] }),
  caughtUp: async () => ({ caughtUp: true }),
});

describe("services that call each other over sockets", () => {
  const open: { close(): Promise<void> }[] = [];

  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
  });

  function network(options: Partial<Parameters<typeof socketNetwork>[0]>): Network {
    const made = socketNetwork({
      names: ["gateway"],
      needs: [],
      environment: {},
      endpoint: { host: "127.0.0.1", port: 0 },
      ageMs: 60_000,
      log,
      observe: () => {},
      ...options,
    });
    open.push(made);
    return made;
  }

  it("say at once, and of all at once, which addresses they lack", () => {
    const needs = ["boxoffice", "offline-sales", "gateway"];
    expect(() => network({ needs, environment: { BOXOFFICE_ADDRESS: "" } })).toThrow(
      /BOXOFFICE_ADDRESS is required.*\n.*OFFLINE_SALES_ADDRESS is required/,
    );
    expect(() => network({ needs, environment: {} })).not.toThrow(/GATEWAY_ADDRESS/);
  });

  it("[O15.4] lack a peer that is optional and has no address", () => {
    const optional = ["offline-sales"];
    const without = network({
      needs: ["boxoffice", "offline-sales"],
      optional,
      environment: { BOXOFFICE_ADDRESS: "a:1" },
    });
    expect(["boxoffice", "offline-sales"].map(without.isInstalled)).toEqual([true, false]);
    const environment = { OFFLINE_SALES_ADDRESS: "b:1" };
    expect(network({ needs: optional, optional, environment }).isInstalled("offline-sales")).toBe(true);
    expect(network({ names: optional, optional }).isInstalled("offline-sales")).toBe(true);
  });

  it("find a peer elsewhere by its name", async () => {
    const server = await serveGrpc({ host: "127.0.0.1", port: 0, implementations: [facts], log });
    open.push({ close: () => server.stop(0) });
    const { transportTo } = network({
      needs: ["boxoffice"],
      environment: { BOXOFFICE_ADDRESS: `localhost:${server.port}` },
    });
    expect(await connect(FactsServiceService, transportTo("boxoffice")).markFacts({})).toMatchObject({
      marker: "here",
    });
  });

  it("take ports one after the other where others look for them", async () => {
    const first = await twoFreePorts();
    const { serve } = network({ names: ["boxoffice", "checkin"], endpoint: { host: "127.0.0.1", port: first } });
    const served = [await serve("checkin", [facts]), await serve("boxoffice", [facts])];
    open.push(...served.map(({ stop }) => ({ close: stop })));
    for (const port of [first, first + 1]) {
      const { transportTo } = network({ needs: ["peer"], environment: { PEER_ADDRESS: `127.0.0.1:${port}` } });
      expect(await connect(FactsServiceService, transportTo("peer")).markFacts({})).toMatchObject({ marker: "here" });
    }
  });
});

async function twoFreePorts(): Promise<number> {
  for (let first = 21_000; first < 21_200; first += 2) {
    const servers = await Promise.all([first, first + 1].map(listen));
    await Promise.all(servers.map((server) => new Promise((resolve) => server?.close(resolve) ?? resolve(undefined))));
    if (servers.every((server) => server !== undefined)) return first;
  }
  throw new Error("no two ports are free");
}

function listen(port: number) {
  const server = createServer();
  return new Promise<typeof server | undefined>((resolve) => {
    server.once("error", () => resolve(undefined));
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
}
