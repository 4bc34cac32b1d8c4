import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Environment, readConfig } from "@tessera/kit/config/config";
import { connect, implement } from "@tessera/kit/rpc";
import { callersOf } from "@tessera/kit/service";
import { createLog } from "@tessera/kit/telemetry/log";
import { createMetrics } from "@tessera/kit/telemetry/metrics";
import { FactsServiceService } from "@tessera/protos/gen/platform/v1/facts";
import {
  Capacity,
  Facts,
  FirstEntries,
  Media,
  PersonalData,
  Sales,
  Shredding,
  TicketData,
  Tickets,
  VoucherShop,
} from "@tessera/protos/services";
import { createAuthority, type TestAuthority, writeCertificate } from "@tessera/testkit/certificates";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { processSettings } from "../configuration/engine-settings.ts";
import { clientMaps, loadServices, outsideCallers, services } from "../services.ts";
import { socketNetwork } from "./network.ts";
import { startPlatform } from "./platform.ts";
import { requireSecure, secureCalls } from "./secure-calls.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });

let authority: TestAuthority;
let directory: string;

beforeAll(async () => {
  authority = await createAuthority();
  directory = await mkdtemp(join(tmpdir(), "tessera-calls-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** The settings of a process with a certificate of its own. */
async function certified(name: string, options: { readonly until?: Date } = {}): Promise<Environment> {
  const issued = await authority.issue({ names: [name], ...options });
  const files = await writeCertificate(join(directory, name), { ...issued, authority: authority.certificate });
  return { GRPC_TLS_CERT: files.certificate, GRPC_TLS_KEY: files.key, GRPC_TLS_CA: files.authority };
}

/** Why a gateway with these settings refuses to start. */
function refusalsOf(environment: Environment): string[] {
  const calls = { names: ["gateway"], peers: ["boxoffice", "checkin"], environment };
  try {
    requireSecure(readConfig(processSettings, environment), calls);
    return [];
  } catch (error) {
    return [...String(error).matchAll(/^ {2}(\w+) reaches other machines/gm)].map(([, name = ""]) => name);
  }
}

describe("calls between processes", () => {
  it("[S11.1] stay on this machine unless they use TLS or it is said that they need not", async () => {
    expect(processSettings.grpcHost.fallback).toBe("127.0.0.1");
    expect(refusalsOf({})).toEqual([]);
    expect(refusalsOf({ BOXOFFICE_ADDRESS: "localhost:1", CHECKIN_ADDRESS: "ipv4:127.0.0.1:1,127.0.0.2:2" })).toEqual(
      [],
    );
    expect(refusalsOf({ GRPC_HOST: "::1", BOXOFFICE_ADDRESS: "unix:/run/x", CHECKIN_ADDRESS: "[::1]:1" })).toEqual([]);
    for (const host of ["0.0.0.0", "::", "10.0.0.1", "boxoffice", "localhost.example"]) {
      expect(refusalsOf({ GRPC_HOST: host })).toEqual(["GRPC_HOST"]);
      expect(refusalsOf({ GRPC_HOST: host, GRPC_INSECURE: "allow" })).toEqual([]);
      expect(refusalsOf({ GRPC_HOST: host, ...(await certified("gateway")) })).toEqual([]);
    }
    for (const address of [
      "checkin:1",
      "dns:///checkin:1",
      "dns://1.1.1.1/x:1",
      "ipv4:127.0.0.1:1,10.0.0.1:1",
      "[fe80::1]:1",
    ])
      expect(refusalsOf({ CHECKIN_ADDRESS: address, BOXOFFICE_ADDRESS: "127.0.0.1:1" })).toEqual(["CHECKIN_ADDRESS"]);
  });

  it("[S11.1] refuse to start in the open", async () => {
    const options = { databaseUrl: "postgresql://nobody@127.0.0.1:1/none", operationsPort: 0, log };
    const environment = { BUS: "kafka", KAFKA_BROKERS: "127.0.0.1:1", GRPC_HOST: "0.0.0.0", GRPC_PORT: "0" };
    const start = (given: Environment) =>
      startPlatform({ ...options, names: ["boxoffice"], environment: { ...environment, ...given } });
    await expect(start({})).rejects.toMatchObject({
      code: "configuration_invalid",
      message: expect.stringContaining("GRPC_HOST reaches other machines"),
    });
    await expect(start({ GRPC_TLS_CERT: "/x.pem" })).rejects.toThrow("set all three or none");
    await expect(start(await certified("checkin"))).rejects.toThrow("does not have the DNS name boxoffice");
  });

  it("[S11.2] are allowed where a service declares a client", async () => {
    const definitions = await loadServices(Object.keys(services));
    for (const { name, clients } of definitions) expect(await clientMaps[name]?.()).toBe(clients);
    expect(Object.keys(clientMaps)).toEqual(Object.keys(services));
    const graph = Object.keys(services).flatMap((name) =>
      [...callersOf(name, definitions)].map(([path, callers]) => ({ name, path, callers })),
    );
    const personalData = Object.values(PersonalData).map(({ path }) => path);
    expect(graph.filter(({ name }) => name === "gateway").map(({ path, callers }) => [path, callers])).toEqual(
      personalData.map((path) => [path, ["shredder"]]),
    );
    for (const { path, callers } of graph.filter((each) => personalData.includes(each.path as never)))
      expect(
        callers.filter((caller) => caller !== "layout-and-render"),
        path,
      ).toEqual(["shredder"]);
    const notByGateway = graph.filter(
      ({ path, callers }) => !callers.includes("gateway") && !personalData.includes(path as never),
    );
    expect(notByGateway.map(({ path, callers }) => [path, callers])).toEqual([
      ...Object.values(Media).map(({ path }) => [path, ["checkin"]]),
      ...Object.values(TicketData).map(({ path }) => [path, ["layout-and-render"]]),
      ...Object.values(Sales).map(({ path }) => [path, ["offline-sales"]]),
      ...Object.values(Shredding).map(({ path }) => [path, ["shredder"]]),
      ...Object.values(Capacity).map(({ path }) => [path, ["voucher"]]),
      ...Object.values(FirstEntries).map(({ path }) => [path, ["layout-and-render"]]),
    ]);
    const byCheckin = graph.filter(({ callers }) => callers.includes("checkin"));
    expect(byCheckin.map(({ name, path }) => [name, path])).toEqual(
      [...Object.values(Tickets), ...Object.values(Media)].map(({ path }) => ["boxoffice", path]),
    );
  });

  it("[V7.10] are allowed to a shop where it uses vouchers, beside the gateway, and nowhere else", async () => {
    const outside = Object.entries(outsideCallers).map(([name, clients]) => ({ name, clients }));
    const graph = Object.keys(services).flatMap((name) => [...callersOf(name, outside)]);
    expect(graph).toEqual(Object.values(VoucherShop).map(({ path }) => [path, ["shop"]]));
    const inside = callersOf("voucher", await loadServices(Object.keys(services)));
    expect(Object.values(VoucherShop).map(({ path }) => inside.get(path))).toEqual(
      Object.values(VoucherShop).map(() => ["gateway"]),
    );
  });

  it("[S11.4] tell from when until when their certificate is valid", async () => {
    const until = new Date("2031-02-03T04:05:06Z");
    const environment = await certified("checkin", { until });
    const metrics = createMetrics();
    const calls = { names: ["checkin"], peers: [], environment, log, metrics };
    const security = await secureCalls(readConfig(processSettings, environment), calls);
    const told = await metrics.exposition();
    security?.certificates.close();
    expect(told).toContain(`tessera_certificate_ends_timestamp_seconds ${until.getTime() / 1000}`);
    const begins = Number(/^tessera_certificate_begins_timestamp_seconds (\d+)$/m.exec(told)?.[1]) * 1000;
    expect(new Date(begins)).toEqual(security?.certificates.validity().begins);
    expect(begins).toBeLessThan(Date.now());
  });

  it("[S11.2, S11.3] connect processes that know each other by their certificates", async () => {
    const open = async (
      name: string,
      environment: Environment,
      { peers = [], port = 0 }: { peers?: readonly string[]; port?: number } = {},
    ) => {
      const config = readConfig(processSettings, environment);
      const security = await secureCalls(config, { names: [name], peers, environment, log, metrics: createMetrics() });
      return socketNetwork({
        ...{ names: [name], needs: peers, environment, endpoint: { host: "127.0.0.1", port } },
        ...{ ageMs: 60_000, log, observe: () => {}, security },
      });
    };
    const facts = implement(FactsServiceService, {
      markFacts: async () => ({ marker: "here", partitions: [] }),
      caughtUp: async () => ({ caughtUp: true }),
    });
    const names = { BOXOFFICE_TLS_NAME: "box.example" };
    const port = await freePort();
    const boxoffice = await open("boxoffice", { ...names, ...(await certified("box.example")) }, { port });
    const served = await boxoffice.serve("boxoffice", [facts]);
    const call = async (name: string, given: Environment = names) => {
      const environment = { BOXOFFICE_ADDRESS: `127.0.0.1:${port}`, ...given, ...(await certified(name)) };
      const network = await open(name, environment, { peers: ["boxoffice"] });
      const outcome = await connect(Facts, network.transportTo("boxoffice"))
        .markFacts({}, { timeoutMs: 1000 })
        .then(
          ({ marker }) => marker,
          ({ code }: { code: string }) => code,
        );
      await network.close();
      return outcome;
    };
    expect(await call("gateway")).toBe("here");
    expect(await call("gateway", {})).toBe("peer_unavailable");
    expect(await call("checkin")).toBe("peer_refuses");
    await served.stop();
    await boxoffice.close();
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}
