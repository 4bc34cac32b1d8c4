import { hash, randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryCache } from "@tessera/engines/cache/memory-cache";
import { diskFiles } from "@tessera/engines/files/disk";
import { inProcess } from "@tessera/engines/grpc/in-process";
import { memoryBus } from "@tessera/engines/memory-bus";
import { isErasedByKey } from "@tessera/events/personal-data/erased-kinds";
import { header } from "@tessera/kit/bus/headers";
import { systemClock } from "@tessera/kit/clock";
import { sql } from "@tessera/kit/pg/sql";
import { implement } from "@tessera/kit/rpc";
import { createHealth } from "@tessera/kit/service/health";
import { type RunningService, startService } from "@tessera/kit/service/lifecycle";
import { createLog } from "@tessera/kit/telemetry/log";
import { createMetrics } from "@tessera/kit/telemetry/metrics";
import { untraced } from "@tessera/kit/telemetry/trace";
import { FactsServiceService } from "@tessera/protos/gen/platform/v1/facts";
import { type CredentialChanged, CredentialKind, EventChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { Records, Scans } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { implementSome } from "@tessera/testkit/implement-some";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { gateway } from "./index.ts";
import { aPosition } from "./testing/fake-peers.ts";

const lines: string[] = [];
const log = createLog({ service: "test", destination: { write: (line) => void lines.push(line) } });
const bus = memoryBus([]);
const network = inProcess({ log });
const token = "key-of-this-test";

let database: TestDatabase;
let running: RunningService;
let base: string;

const credential: CredentialChanged = {
  organizer: "bigevents",
  kind: CredentialKind.API_KEY,
  id: hash("sha256", token),
  revision: 1,
  tokenHash: hash("sha256", token, "buffer"),
  name: "key",
  permissions: ["*"],
  allEvents: true,
  events: [],
  active: true,
  device: undefined,
};
const event: EventChanged = {
  ...EventChanged.decode(new Uint8Array()),
  organizer: "bigevents",
  event: "sampleconf",
  revision: 1,
};

const fresh = () => ({ [header.factId]: randomUUID(), [header.at]: String(systemClock.now()) });

/** The message that marks a place in a partition. */
const aMark = (marker: string) => ({ key: "", value: null, headers: { ...fresh(), [header.marker]: marker } });

/** A boxoffice whose every record publishes the same key and event a little later. */
function fakeBoxoffice() {
  const marked = [topics.credentialChanged.name, topics.eventChanged.name].map((topic) => ({ topic, partition: 0 }));
  let published: Promise<unknown> = Promise.resolve();
  return [
    implement(Records, {
      validateRecords: async () => ({ outcome: undefined, brought: [] }),
      async applyRecords({ records }) {
        published = new Promise((resolve) => setTimeout(resolve, 100)).then(async () => {
          const { credentialChanged, eventChanged } = topics;
          const facts = {
            key: credentialChanged.key(credential),
            value: credentialChanged.encode(credential),
            headers: fresh(),
          };
          await bus.publish(credentialChanged.name, [facts]);
          await bus.publish(eventChanged.name, [
            { key: eventChanged.key(event), value: eventChanged.encode(event), headers: fresh() },
          ]);
        });
        return {
          rejected: records
            .filter(({ kind }) => kind === "gate")
            .map(({ line }) => ({ line, errors: [{ field: "id", messages: ["x"] }] })),
        };
      },
    }),
    implement(FactsServiceService, {
      async markFacts() {
        const marker = randomUUID();
        void published.then(() =>
          Promise.all(marked.map(({ topic, partition }) => bus.publish(topic, [{ ...aMark(marker), partition }]))),
        );
        return { marker, partitions: marked };
      },
      caughtUp: async () => ({ caughtUp: true }),
    }),
  ];
}

beforeAll(async () => {
  database = await createTestDatabase([{ schema: "gateway", migrations: gateway.migrations }]);
  network.serve("boxoffice", fakeBoxoffice());
  const caughtUp = implement(FactsServiceService, {
    markFacts: async () => ({ marker: randomUUID(), partitions: [] }),
    caughtUp: async () => ({ caughtUp: true }),
  });
  for (const name of ["layout-and-render", "voucher", "offline-sales", "shredder"]) network.serve(name, [caughtUp]);
  network.serve("checkin", [
    caughtUp,
    implementSome(Scans, {
      redeem: async ({ scan }) => ({
        outcome: {
          outcome: { $case: "admitted", value: {} },
          list: { id: scan?.list ?? 0, name: "Gate", event: scan?.event ?? "", includePending: false },
          position: aPosition(),
          checkinTexts: [],
        },
      }),
    }),
  ]);
  running = await startService(gateway, {
    environment: { HTTP_PORT: "0", OPERATOR_KEY: "operator-key-of-the-gateway-tests" },
    databaseUrl: database.url,
    role: "tessera_gateway",
    bus,
    cache: memoryCache(),
    // These tests upload nothing, so this folder is never made.
    files: diskFiles({ directory: join(tmpdir(), "tessera-gateway-files") }),
    log,
    metrics: createMetrics(),
    tracing: untraced,
    health: createHealth({ log }),
    isErased: isErasedByKey,
    owns: [],
    transportTo: (name) => network.transportTo(name),
    isInstalled: () => true,
    serve: async (implementations) => {
      const server = network.serve("gateway", implementations);
      return { drain: async () => server.drain(), stop: () => server.stop(1000) };
    },
  });
  const accepting = lines.map((line) => JSON.parse(line) as { message: string; port?: number });
  base = `http://127.0.0.1:${accepting.find(({ message }) => message === "gateway accepts requests")?.port}`;
});

afterAll(async () => {
  await running.drain();
  await bus.close();
  await running.stop();
  await network.close();
  await database.drop();
});

const redeem = (headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${base}/api/v1/organizers/bigevents/events/sampleconf/checkinlists/7/positions/abc/redeem/`, {
    method: "POST",
    headers: { authorization: `Token ${token}`, ...headers },
  });

describe("the gateway as a service", () => {
  it("[R7.5] authenticates the credentials of an import from its answer on", async () => {
    expect((await redeem()).status).toBe(401);
    const answer = await fetch(`${base}/api/v1/import/`, {
      method: "POST",
      headers: { authorization: "Token operator-key-of-the-gateway-tests", "content-type": "application/x-ndjson" },
      body: ["api_key", "gate"].map((kind) => JSON.stringify({ kind, organizer: "bigevents", data: {} })).join("\n"),
    });
    expect(await answer.json()).toMatchObject({
      records: 2,
      accepted: 1,
      rejected: 1,
      kinds: { api_key: 1 },
      settled: true,
    });
    const admitted = await redeem();
    expect(admitted.status).toBe(201);
    const { position } = (await admitted.json()) as { position: { downloads: { url: string }[] } };
    expect(position.downloads[0]?.url).toBe(
      `http://localhost:${new URL(base).port}/api/v1/organizers/bigevents/events/sampleconf/orderpositions/42/download/pdf/`,
    );
  });

  it("[S2.8] decides scans while look-ups of unknown tokens wait for the database", async () => {
    const keyed = () => redeem({ "x-idempotency-key": randomUUID() });
    expect((await keyed()).status).toBe(201);
    const holder = await running.db.dedicated();
    await holder.run(sql`begin`);
    await holder.run(sql`lock table credential in access exclusive mode`);
    const strangers = Array.from({ length: 30 }, () => redeem({ authorization: `Token ${randomUUID()}` }));
    // The unknown tokens are being looked up from here on.
    await expect
      .poll(() =>
        holder.one(
          sql`select count(*) > 1 as waits from pg_locks where relation = 'credential'::regclass and not granted`,
        ),
      )
      .toEqual({ waits: true });
    const answers = await Promise.all(Array.from({ length: 20 }, keyed));
    await holder.run(sql`commit`);
    await holder.release();
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    for (const { status } of await Promise.all(strangers)) expect([401, 503]).toContain(status);
  });

  it("[S2.2] shuts out whom a fact revokes", async () => {
    const revoked = { ...credential, revision: 2, active: false };
    await bus.publish(topics.credentialChanged.name, [
      {
        key: topics.credentialChanged.key(revoked),
        value: topics.credentialChanged.encode(revoked),
        headers: fresh(),
      },
    ]);
    expect((await redeem()).status).toBe(401);
  });

  it("tells its peers how far it has read", async () => {
    const client = network.transportTo("gateway");
    const at = { topic: topics.eventChanged.name, partition: 0 };
    const marker = randomUUID();
    const isCaughtUp = async () =>
      (await client.call(FactsServiceService.caughtUp, { marker, partitions: [at] }, {})).caughtUp;
    expect(await isCaughtUp()).toBe(false);
    await bus.publish(at.topic, [{ ...aMark(marker), partition: at.partition }]);
    await expect.poll(isCaughtUp).toBe(true);
  });
});
