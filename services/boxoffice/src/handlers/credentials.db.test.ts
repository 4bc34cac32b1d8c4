import { createHash, randomBytes } from "node:crypto";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { createMetrics } from "@tessera/kit/telemetry/metrics";
import type {
  ApiKeyFields,
  Credential,
  CredentialFields,
  DeviceFields,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import { CredentialKind } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { emptyTables } from "@tessera/testkit/empty-tables";
import { firstIdMadeHere } from "@tessera/values";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { reportEvents } from "../report-events.ts";
import { type BoxOffice, boxOfficeOn } from "../testing/box-office.ts";
import { takeFacts } from "../testing/facts.ts";
import { record, sample } from "../testing/records.ts";
import { createCredential, listCredentials, revokeCredential } from "./credentials.ts";

const schema = { schema: "boxoffice", migrations: new URL("../../migrations/", import.meta.url) };
const logged: string[] = [];
const log = createLog({ service: "test", destination: { write: (line) => void logged.push(line) } });
const events = reportEvents({ log, metrics: createMetrics() });
const organizer = "org";
const sha256 = (token: string) => createHash("sha256").update(token).digest();

let database: TestDatabase;
let db: Db;
let office: BoxOffice;

beforeAll(async () => {
  database = await createTestDatabase([schema]);
  db = database.open("boxoffice");
  office = boxOfficeOn(db);
});
afterAll(() => database.drop());
beforeEach(async () => {
  await emptyTables(db);
  await office.apply(sample.organizer(), sample.event(), sample.gate());
  await takeFacts(db);
});

const { API_KEY, DEVICE } = CredentialKind;
const bare: ApiKeyFields = { name: "shop", permissions: [], allEvents: true, events: [], active: true };
const bareDevice: DeviceFields = {
  name: "scanner",
  gate: undefined,
  securityProfile: "full",
  softwareBrand: "",
  allEvents: true,
  events: [],
  revoked: false,
};

interface Placed {
  readonly token?: string;
  readonly of?: string;
}

async function create(kind: CredentialKind, fields: CredentialFields, placed: Placed): Promise<Credential> {
  const { token = randomBytes(8).toString("hex"), of = organizer } = placed;
  const request = { organizer: of, kind, tokenHash: sha256(token), fields };
  const { credential } = await createCredential(request, { db, events });
  if (credential === undefined) throw new Error("no credential came back");
  return credential;
}

const keyOf = (fields: Partial<ApiKeyFields> = {}, placed: Placed = {}) =>
  create(API_KEY, { apiKey: { ...bare, ...fields } }, placed);
const deviceOf = (fields: Partial<DeviceFields> = {}, placed: Placed = {}) =>
  create(DEVICE, { device: { ...bareDevice, ...fields } }, placed);

const list = (kind: CredentialKind, { of = organizer, page = 1, pageSize = 50 } = {}) =>
  listCredentials({ organizer: of, kind, page, pageSize }, { db });
const listKeys = (page = 1, pageSize = 50) => list(API_KEY, { page, pageSize });
const revoke = async (kind: CredentialKind, id: string, of = organizer) =>
  (await revokeCredential({ organizer: of, kind, id }, { db, events })).credential;
const revokeKey = (id: string, of?: string) => revoke(API_KEY, id, of);
const revokeDevice = (id: string, of?: string) => revoke(DEVICE, id, of);

describe("creating", () => {
  it("[R9.2] makes the key that its record would make", async () => {
    const key = await keyOf(
      { permissions: ["can_view_orders", "event.orders:checkin"], events: ["fest"] },
      { token: "token-of-the-tests" },
    );
    expect(key).toEqual({
      id: sha256("token-of-the-tests").toString("hex"),
      revision: expect.any(Number),
      fields: { apiKey: { ...bare, permissions: ["event.orders:checkin", "event.orders:read"], events: ["fest"] } },
    });
    expect(await takeFacts(db)).toMatchObject([
      {
        topic: "credential-changed",
        key: `org//CREDENTIAL_KIND_API_KEY:${key.id}`,
        value: {
          revision: key.revision,
          active: true,
          tokenHash: sha256("token-of-the-tests"),
          permissions: key.fields?.apiKey?.permissions,
        },
      },
    ]);
    const sent = {
      token: "token-of-the-tests",
      name: "shop",
      permissions: ["can_view_orders", "can_checkin_orders"],
      events: ["fest"],
    };
    expect(await office.apply(sample.apiKey({ ...sent, all_events: true }))).toEqual({});
    expect(await takeFacts(db)).toEqual([]);
  });

  it("[R9.2] makes the device that its record would make", async () => {
    const fields = { gate: 1, securityProfile: "made-up", softwareBrand: "scan", allEvents: false, events: ["fest"] };
    const device = await deviceOf(fields, { token: "token-of-the-tests" });
    expect(device).toEqual({
      id: expect.stringMatching(/^\d+$/),
      revision: expect.any(Number),
      fields: { device: { ...bareDevice, ...fields, securityProfile: "pretixscan" } },
    });
    expect(await takeFacts(db)).toMatchObject([
      {
        key: `org//CREDENTIAL_KIND_DEVICE:${device.id}`,
        value: {
          tokenHash: sha256("token-of-the-tests"),
          device: { deviceId: Number(device.id), gate: { id: 1, name: "North" }, securityProfile: "pretixscan" },
        },
      },
    ]);
    const sent = { name: "scanner", gate: 1, security_profile: "pretixscan", software_brand: "scan", events: ["fest"] };
    await office.apply(sample.device({ device_id: Number(device.id), token: "token-of-the-tests", ...sent }));
    expect(await takeFacts(db)).toEqual([]);
  });

  it("happens once for a token, however often it is asked for: what became of it since stays", async () => {
    const keys = await Promise.all(Array.from({ length: 5 }, () => keyOf({}, { token: "k" })));
    const devices = await Promise.all(Array.from({ length: 5 }, () => deviceOf({}, { token: "d" })));
    expect(new Set([...keys, ...devices].map(({ revision }) => revision)).size).toBe(2);
    await revokeKey(keys[0]?.id ?? "");
    await revokeDevice(devices[0]?.id ?? "");
    expect(await keyOf({}, { token: "k" })).toMatchObject({ fields: { apiKey: { active: false } } });
    expect(await deviceOf({}, { token: "d" })).toMatchObject({
      id: devices[0]?.id,
      fields: { device: { revoked: true } },
    });
    expect(await takeFacts(db)).toHaveLength(4);
  });

  it("[R9.11] names everything that is wrong, and stores nothing", async () => {
    const wrong = { permissions: ["*", "nonsense"], events: ["fest", "other"] };
    await expect(keyOf(wrong)).rejects.toMatchObject({
      kind: "invalid",
      fields: {
        permissions: [expect.stringMatching(/^Element 2: /)],
        events: [expect.stringMatching(/^Element 2: Event is not known/)],
      },
    });
    await expect(deviceOf({ gate: 7, events: ["other"], name: "x".repeat(191) })).rejects.toMatchObject({
      kind: "invalid",
      fields: {
        name: [expect.anything()],
        gate: [expect.stringContaining("Gate 7 is not known")],
        events: [expect.anything()],
      },
    });
    expect((await listKeys()).count).toBe(0);
    expect(await takeFacts(db)).toEqual([]);
  });

  it("takes neither another's token nor what is no hash", async () => {
    await office.apply(record("organizer", { slug: "other", name: "Other" }, { organizer: "other" }));
    await keyOf({}, { token: "taken" });
    await expect(keyOf({}, { token: "taken", of: "other" })).rejects.toMatchObject({
      fields: { token: [expect.anything()] },
    });
    await expect(deviceOf({}, { token: "taken" })).rejects.toMatchObject({ fields: { token: [expect.anything()] } });
    const request = { organizer, kind: API_KEY, tokenHash: Buffer.from("in clear"), fields: { apiKey: bare } };
    await expect(createCredential(request, { db, events })).rejects.toMatchObject({ code: "bad_token_hash" });
    const unknown = createCredential({ ...request, kind: CredentialKind.UNSPECIFIED }, { db, events });
    await expect(unknown).rejects.toThrow("no such kind");
  });

  it("[R4.3, R9.8] numbers devices above those that records brought, twenty at once included", async () => {
    await office.apply(sample.device({ device_id: 4711, token: null }));
    const made = await Promise.all(Array.from({ length: 20 }, () => deviceOf()));
    const numbers = made.map(({ id }) => Number(id));
    expect(new Set(numbers).size).toBe(20);
    expect(Math.min(...numbers)).toBeGreaterThan(4711);
  });

  it("[R9.8] numbers the devices of each organizer from 1, and gives the number of a deleted one to no other", async () => {
    await office.apply(record("organizer", { slug: "other", name: "Other" }, { organizer: "other" }));
    expect([(await deviceOf()).id, (await deviceOf()).id]).toEqual(["1", "2"]);
    await office.apply({ ...sample.device({ device_id: 2 }), deleted: true });
    expect([(await deviceOf()).id, (await deviceOf({}, { of: "other" })).id]).toEqual(["3", "1"]);
    await office.apply(sample.device({ device_id: 7, token: null }));
    await office.apply({ ...sample.device({ device_id: 7 }), deleted: true });
    expect((await deviceOf()).id).toBe("8");
  });

  it("[R9.16] leaves a device that was made here to no record, with a token or without", async () => {
    const { id } = await deviceOf({ name: "Works" });
    const taken = { device_id: [`Device ${id} was made here, and no record may replace it: take another number.`] };
    expect(
      await office.apply(sample.device({ device_id: Number(id), token: "a-token-of-the-shop-that-is-long" })),
    ).toEqual({
      1: taken,
    });
    expect(await office.apply(sample.device({ device_id: Number(id), token: null }))).toEqual({ 1: taken });
    await office.apply(sample.device({ device_id: 12, token: null }));
    expect(await office.apply(sample.device({ device_id: 12, name: "Again", token: null }))).toEqual({});
  });

  it("[R3.92] numbers devices of every organizer, whatever number a record of another one has", async () => {
    await office.apply(record("organizer", { slug: "other", name: "Other" }, { organizer: "other" }));
    const refused = { device_id: ["Numbers of devices in records are less than 1000000000001."] };
    const numbers = [2 ** 50, String(firstIdMadeHere), firstIdMadeHere - 1];
    const records = numbers.map((number) => sample.device({ device_id: number, token: null }));
    expect(await office.apply(...records)).toEqual({ 1: refused, 2: refused });
    expect((await deviceOf()).id).toBe(String(firstIdMadeHere));
    expect((await deviceOf({}, { of: "other" })).id).toBe("1");
  });
});

describe("revoking", () => {
  it("[R9.4, R9.6] switches a key off once, found by its first characters in any letter case", async () => {
    const { id } = await keyOf({ name: "lost", events: ["fest"], permissions: ["*"] });
    await takeFacts(db);
    const key = await revokeKey(id.slice(0, 8).toUpperCase());
    expect(key).toMatchObject({
      id,
      fields: { apiKey: { name: "lost", active: false, permissions: ["*"], events: ["fest"] } },
    });
    expect(await takeFacts(db)).toMatchObject([{ value: { id, active: false, revision: key?.revision } }]);
    expect(await revokeKey(id)).toEqual(key);
    expect(await takeFacts(db)).toEqual([]);
  });

  it("[R9.5, R9.6] takes a device's access away once, and keeps what else is known of it", async () => {
    const { id, fields } = await deviceOf({ gate: 1 });
    await takeFacts(db);
    const device = await revokeDevice(id);
    expect(device).toMatchObject({ id, fields: { device: { ...fields?.device, revoked: true } } });
    const [fact] = await takeFacts(db);
    expect(fact?.value).toMatchObject({ active: false, device: { gate: { id: 1, name: "North" } } });
    expect(await revokeDevice(id)).toEqual(device);
    expect(await takeFacts(db)).toEqual([]);
  });

  it("revokes what is of no use any more: its event is gone, it has no token", async () => {
    const { id } = await keyOf({ events: ["fest"], allEvents: false });
    await office.apply(record("event", { slug: "fest" }, { event: "fest", deleted: true }));
    expect((await revokeKey(id))?.fields?.apiKey).toMatchObject({ active: false, events: ["fest"] });
    await office.apply(sample.device({ device_id: 9, token: null }));
    expect((await revokeDevice("9"))?.fields?.device?.revoked).toBe(true);
  });

  it("[R9.4] asks for more where an id could be that of several keys", async () => {
    for (const last of ["a", "b"])
      await db.run(sql`
        insert into credential (organizer, kind, id, token_hash, data, revision)
        select ${organizer}, 'api_key', ${`0123456789${last}`}, ${sha256(last)}::bytea, ${JSON.stringify({ ...bare, all_events: true })}::jsonb, 1`);
    await expect(revokeKey("01234567")).rejects.toMatchObject({ kind: "invalid", code: "ambiguous_id" });
  });

  it.each(["", "0123456", "%", "________", "' or true--", "f".repeat(65)])("[R9.4] finds no key by %j", async (id) => {
    await keyOf();
    await expect(revokeKey(id)).rejects.toMatchObject({ kind: "not_found", code: "api_key_not_found" });
  });

  it("[R9.10] is undone by a record that says so, and by no other", async () => {
    await office.apply(sample.apiKey({ token: "token-of-the-shop", name: "shop" }));
    await revokeKey(sha256("token-of-the-shop").toString("hex"));
    await office.apply(sample.apiKey({ token: "token-of-the-shop", name: "renamed", active: false }));
    expect((await listKeys()).credentials).toMatchObject([{ fields: { apiKey: { name: "renamed", active: false } } }]);
    await office.apply(sample.apiKey({ token: "token-of-the-shop", name: "renamed" }));
    expect((await listKeys()).credentials).toMatchObject([{ fields: { apiKey: { active: true } } }]);
  });

  it("neither loses nor repeats what a record of the same key says at the same time", async () => {
    const id = sha256("token-of-the-shop").toString("hex");
    await office.apply(sample.apiKey({ token: "token-of-the-shop" }));
    for (const name of Array.from({ length: 15 }, (_, round) => `round ${round}`)) {
      await Promise.all([
        office.apply(sample.apiKey({ token: "token-of-the-shop", name })),
        revokeKey(id),
        revokeKey(id),
      ]);
      expect((await listKeys()).credentials).toMatchObject([{ fields: { apiKey: { name } } }]);
    }
    const facts = (await takeFacts(db)).map(({ value }) => value);
    const revisions = facts.map((fact) => Number(fact?.["revision"]));
    expect(revisions).toEqual(revisions.toSorted((one, other) => one - other));
    const [stored] = (await listKeys()).credentials;
    expect(facts.at(-1)).toMatchObject({ revision: stored?.revision, active: stored?.fields?.apiKey?.active });
  });
});

describe("listing", () => {
  it("[R9.3] goes by name, page by page, revoked ones included", async () => {
    for (const name of ["b", "A", "c"]) await keyOf({ name });
    const names = async (page: number) =>
      (await listKeys(page, 2)).credentials.map(({ fields }) => fields?.apiKey?.name);
    expect(await names(1)).toEqual(["A", "b"]);
    expect(await names(0)).toEqual(["c"]);
    await revokeKey((await listKeys()).credentials[0]?.id ?? "");
    expect(await listKeys(2, 2)).toMatchObject({
      count: 3,
      page: 2,
      credentials: [{ fields: { apiKey: { name: "c" } } }],
    });
    await expect(listKeys(3, 2)).rejects.toMatchObject({ kind: "not_found", code: "page_not_found" });
  });

  it("goes by number where it is about devices", async () => {
    for (const device_id of [10, 9, 100]) await office.apply(sample.device({ device_id, token: null }));
    const { credentials, count } = await list(DEVICE);
    expect([count, credentials.map(({ id }) => id)]).toEqual([3, ["9", "10", "100"]]);
  });
});

describe("organizers", () => {
  it("[R9.12] never see each other's", async () => {
    await office.apply(record("organizer", { slug: "other", name: "Other" }, { organizer: "other" }));
    const { id } = await keyOf();
    const device = await deviceOf();
    await expect(revokeKey(id, "other")).rejects.toMatchObject({ kind: "not_found" });
    const absent = { kind: "not_found", code: "device_not_found" };
    await expect(revokeDevice(device.id, "other")).rejects.toMatchObject(absent);
    expect(await list(API_KEY, { of: "other" })).toMatchObject({ count: 0, credentials: [] });
    await expect(keyOf({ events: ["fest"] }, { of: "other" })).rejects.toMatchObject({
      fields: { events: [expect.anything()] },
    });
  });

  it("[R9.11] are not found where there are none", async () => {
    const unknown = { kind: "not_found", code: "organizer_not_found" };
    await expect(list(API_KEY, { of: "nobody" })).rejects.toMatchObject(unknown);
    await expect(list(DEVICE, { of: "nobody" })).rejects.toMatchObject(unknown);
    await expect(keyOf({ permissions: ["nonsense"] }, { of: "nobody" })).rejects.toMatchObject(unknown);
    await expect(deviceOf({}, { of: "nobody" })).rejects.toMatchObject(unknown);
    await expect(revokeKey("0123456789", "nobody")).rejects.toMatchObject(unknown);
    await expect(revokeDevice("1", "nobody")).rejects.toMatchObject(unknown);
  });
});

it("[R10.3] logs who was made and revoked, and nothing that a token could be found by", async () => {
  logged.length = 0;
  const { id } = await keyOf({ name: "named" }, { token: "clear" });
  await revokeKey(id);
  expect(logged.map((line) => (JSON.parse(line) as { message: string; key: string }).message)).toEqual([
    "an API key was created",
    "an API key was revoked",
  ]);
  for (const text of ["clear", "named", id]) expect(logged.join()).not.toContain(text);
});
