import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { engineSettings } from "@tessera/cli/configuration/engine-settings";
import { examineBus } from "@tessera/cli/doctor/examine-bus";
import { migrateAll } from "@tessera/cli/migrate";
import { kafkaAccess } from "@tessera/cli/serve/open-engines";
import { loadServices } from "@tessera/cli/services";
import { applyCatalogue } from "@tessera/cli/topics/catalogue";
import { listAllowances } from "@tessera/cli/topics/list-allowances";
import { type Cluster, startCluster } from "@tessera/dev/cluster/start-cluster";
import { allow } from "@tessera/engines/kafka/acls";
import { readConfig } from "@tessera/kit/config/config";
import { withClient } from "@tessera/kit/pg/administer";
import { roleOf } from "@tessera/kit/pg/provision";
import { writeCertificate } from "@tessera/testkit/certificates";
import { quiet } from "@tessera/testkit/engines/kafka-bed";
import { startTlsPostgres } from "@tessera/testkit/engines/tls-postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { findFirstPort } from "../e2e/find-ports.ts";
import { listData, operatorKey, orderData, positionData, samplesOf } from "../e2e/sample-records.ts";
import { importUntilAnswered } from "../failure/import-until-answered.ts";
import { examineEngine } from "../security/examine-engine.ts";
import { type SecureBrokers, startSecureBrokers } from "../security/secure-brokers.ts";

const services = await loadServices(["all"]);
const { apiKey, deviceKey, eventPath, groundwork, ofEvent } = samplesOf("accounts");
const undo: (() => Promise<unknown>)[] = [];
const logged: string[] = [];
let brokers: SecureBrokers;
let cluster: Cluster;

beforeAll(async () => {
  brokers = await startSecureBrokers([...services.map(({ name }) => name), "topics"]);
  undo.push(() => brokers.stop());
  const administrator = readConfig(engineSettings, brokers.settingsOf("broker"));
  const allowances = await listAllowances({ prefix: "tessera.", principalOf: (name) => `User:${name}` });
  await allow(allowances, kafkaAccess(administrator, { clientId: "test", log: quiet }));
  await applyCatalogue(brokers.settingsOf("topics"));
  const databases = await startDatabase();
  const files = await mkdtemp(join(tmpdir(), "tessera-accounts-"));
  undo.push(() => rm(files, { recursive: true, force: true }));
  cluster = await startCluster({
    firstPort: await findFirstPort(),
    replicas: Object.fromEntries(services.map(({ name }) => [name, 1])),
    environment: { BASE_URL: "http://127.0.0.1", OPERATOR_KEY: operatorKey, FILES_DIR: files },
    environmentOf: (service) => ({ ...brokers.settingsOf(service), DATABASE_URL: databases.get(service) ?? "" }),
    onLine: (process, line) => void logged.push(`${process} ${line}`),
  });
  undo.push(() => cluster.stop());
});
afterAll(async () => {
  for (const step of undo.reverse()) await step();
});

/** Starts a server with TLS, and makes the schemas and a user for each service; returns their addresses. */
async function startDatabase(): Promise<Map<string, string>> {
  const { authority, directory } = brokers;
  const trusted = { authority: authority.certificate };
  const server = await startTlsPostgres({ ...(await authority.issue({ names: ["localhost"] })), ...trusted });
  undo.push(() => server.stop());
  const administrator = await authority.issue({ names: ["x"], subject: "postgres" });
  const files = await writeCertificate(join(directory, "administrator"), { ...administrator, ...trusted });
  const address = (user: string) =>
    `postgresql://${user}@localhost:${server.port}/postgres?sslmode=verify-full&sslrootcert=${files.authority}`;
  const url = `${address("postgres")}&sslcert=${files.certificate}&sslkey=${files.key}`;
  await migrateAll({ url, names: ["all"] });
  await withClient({ url, purpose: "test" }, async (client) => {
    for (const { schema } of services)
      await client.query(`create role ${schema} login password 'pw-${schema}' in role ${roleOf(schema)}`);
  });
  return new Map(services.map(({ name, schema }) => [name, address(`${schema}:pw-${schema}`)]));
}

async function send(method: string, path: string, { as, body }: { as: string; body?: unknown }): Promise<Response> {
  return fetch(`${cluster.baseUrls[0]}${path}`, {
    method,
    headers: { authorization: as, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

it("[S11.12] [S11.13] from import to gate and printer, each service with an account and a user of its own", async () => {
  const records = [
    ...groundwork(),
    ofEvent("order", orderData({ positions: [positionData({ id: 1001, secret: "secret-of-1001" })] })),
    ofEvent("checkin_list", listData()),
    ofEvent("ticket_layout", { id: 1, name: "Plain", default: true, layout: [] }),
    ofEvent("voucher", { id: 1, code: "WELCOME", max_usages: 2 }),
  ];
  const body = records.map((record) => JSON.stringify(record)).join("\n");
  await importUntilAnswered({ baseUrl: cluster.baseUrls[0] ?? "", body });
  const device = `Device ${deviceKey}`;
  const token = `Token ${apiKey}`;
  const redeem = () =>
    send("POST", `${eventPath}/checkinlists/1/positions/secret-of-1001/redeem/`, { as: device, body: {} });
  await expect.poll(async () => (await redeem()).status, { timeout: 30_000 }).toBe(201);
  expect(await (await redeem()).json()).toMatchObject({ status: "error", reason: "already_redeemed" });
  const ticket = `${eventPath}/orderpositions/1001/download/pdf/`;
  let printed = await send("GET", ticket, { as: token });
  for (const until = Date.now() + 60_000; printed.status !== 200 && Date.now() < until; await sleep(500))
    printed = await send("GET", ticket, { as: token });
  expect([printed.status, printed.headers.get("content-type")]).toEqual([200, "application/pdf"]);
  // Nothing waits for a right: every consumer has read what there is, and nothing was refused.
  for (const { name } of services) {
    const examined = () => examineEngine(examineBus, brokers.settingsOf(name), [name]);
    await expect.poll(examined, { timeout: 30_000 }).toMatch(/^ok: the cluster/);
  }
  expect(logged.filter((line) => /AUTHORIZATION_FAILED|42501|permission denied/i.test(line))).toEqual([]);
  expect(logged.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});
