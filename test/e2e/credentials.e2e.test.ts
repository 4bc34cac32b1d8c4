import { openDatabase } from "@tessera/kit/pg/database";
import { roleOf } from "@tessera/kit/pg/provision";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "./command.ts";
import { listData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

const { eventPath, groundwork, ofEvent } = samplesOf("keyholders");
const organizer = ["--organizer", "keyholders"];

describe("keys and devices by command", () => {
  let platform: TestPlatform;

  beforeAll(async () => {
    platform = await startTestPlatform();
    const answer = await platform.import([
      ...groundwork(),
      ofEvent("order", orderData()),
      ofEvent("checkin_list", listData()),
    ]);
    expect(answer).toMatchObject({ rejected: 0, settled: true });
  });
  afterAll(() => platform.stop());

  async function tessera(...args: string[]) {
    const environment = { TESSERA_OPERATOR_KEY: platform.operatorKey };
    return runCommand([...args, "--url", platform.baseUrl], environment).ended;
  }

  /** Creates a key or a device and returns its token. */
  async function create(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await tessera(...args, ...organizer);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^[a-z0-9]{64}\n$/);
    expect(stderr).not.toContain("do not know it yet");
    platform.keepOutOfLogs(stdout.trim());
    return stdout.trim();
  }

  async function list(what: "apikeys" | "devices"): Promise<Record<string, unknown>[]> {
    const path = `/api/v1/organizers/keyholders/${what}/`;
    const { body } = await platform.request("GET", path, { as: `Token ${platform.operatorKey}` });
    return body.results;
  }

  const lists = (as: string, path = eventPath) => platform.request("GET", `${path}/checkinlists/`, { as });

  it("[R9.7, R9.15, S2.2] a key works when it is printed, has its permissions, and is refused after it is revoked", async () => {
    const events = ["--events", "sampleconf"];
    const token = await create("keys", "create", "--name", "Shop ★", "--permissions", "can_view_orders", ...events);
    expect((await lists(`Token ${token}`)).status).toBe(200);
    expect((await lists(`Device ${token}`)).status).toBe(401);
    const changing = { as: `Token ${token}`, body: { name: "VIP" } };
    expect((await platform.request("POST", `${eventPath}/checkinlists/`, changing)).status).toBe(403);

    const key = (await list("apikeys")).find(({ name }) => name === "Shop ★");
    expect(key).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
      name: "Shop ★",
      permissions: ["event.orders:read"],
      all_events: false,
      events: ["sampleconf"],
      active: true,
    });

    const id = String(key?.["id"]);
    const revoked = await tessera("keys", "revoke", id.slice(0, 8), ...organizer);
    expect(revoked).toMatchObject({ code: 0, stdout: `API key ${id} (Shop ★) is revoked.\n` });
    await expect
      .poll(async () => await lists(`Token ${token}`))
      .toMatchObject({ status: 401, body: { detail: "This API key has been switched off." } });
    const listed = await tessera("keys", "list", "--json", ...organizer);
    expect(JSON.parse(listed.stdout)).toEqual(await list("apikeys"));
    expect(JSON.parse(listed.stdout)).toContainEqual({ ...key, active: false });
  });

  it("[R9.5, R9.7, R9.8] a device scans by its profile at its gate, and gets the sentence that scanners know after it is revoked", async () => {
    const details = [
      "--gate",
      "7",
      "--profile",
      "pretixscan_online_noorders",
      "--software-brand",
      "tests",
      "--all-events",
    ];
    const token = await create("devices", "create", "--name", "North", ...details);
    const as = `Device ${token}`;
    const device = (await list("devices")).find(({ name }) => name === "North");
    const number = Number(device?.["device_id"]);
    expect(device).toMatchObject({ gate: 7, security_profile: "pretixscan_online_noorders", revoked: false });
    // Device 3 came with the records.
    expect(number).toBeGreaterThan(3);

    const redeem = `${eventPath}/checkinlists/1/positions/1001/redeem/`;
    const scanned = await platform.request("POST", redeem, { as, body: {} });
    expect([scanned.status, scanned.body.position.checkins]).toMatchObject([201, [{ gate: 7, device_id: number }]]);
    // A profile limits the permissions of devices.
    expect((await platform.request("GET", `${eventPath}/checkinlists/1/`, { as })).status).toBe(403);

    expect((await tessera("devices", "revoke", String(number), ...organizer)).code).toBe(0);
    await expect
      .poll(async () => await lists(as))
      .toMatchObject({ status: 401, body: { detail: "Device access has been revoked." } });
  });

  it("[R1.34] a key of a shop brings the records of its event, and no others", async () => {
    const may = "organizer.records:write,event.orders:read";
    const token = await create("keys", "create", "--name", "Records", "--permissions", may, "--events", "sampleconf");
    const lines = [
      ofEvent(
        "order",
        orderData({ code: "OWN01", positions: [positionData({ id: 1501, secret: "own-secret-1501" })] }),
      ),
      ofEvent("order", orderData({ code: "OWN02" }), "elsewhere"),
      { kind: "organizer", organizer: "rivals", data: { slug: "rivals", name: "Rivals" } },
      {
        kind: "api_key",
        organizer: "keyholders",
        data: { token: "made-by-a-key-0001", permissions: ["*"], all_events: true },
      },
    ];
    const sent = await fetch(`${platform.baseUrl}/api/v1/import/`, {
      method: "POST",
      headers: { authorization: `Token ${token}`, "content-type": "application/x-ndjson" },
      body: lines.map((line) => JSON.stringify(line)).join("\n"),
    });
    expect(await sent.json()).toMatchObject({
      accepted: 1,
      settled: true,
      errors: [
        { line: 2, errors: { event: [expect.any(String)] } },
        { line: 3, errors: { organizer: [expect.any(String)] } },
        { line: 4, errors: { kind: [expect.any(String)] } },
      ],
    });
    const path = `${eventPath}/checkinlists/1/positions/1501/`;
    expect((await platform.request("GET", path, { as: `Token ${token}` })).body.secret).toBe("own-secret-1501");
    expect((await lists("Token made-by-a-key-0001")).status).toBe(401);
  });

  it("[R9.14] two equal requests with an idempotency key create one, and its token is stored nowhere", async () => {
    const send = (key: string, name: string) =>
      platform.request("POST", "/api/v1/organizers/keyholders/devices/", {
        as: `Token ${platform.operatorKey}`,
        headers: { "x-idempotency-key": key },
        body: { name, all_events: true },
      });
    const first = await send("once", "repeated");
    platform.keepOutOfLogs(first.body.token);
    expect(await send("once", "repeated")).toMatchObject({ status: 201, body: first.body });
    expect((await send("once", "another")).status).toBe(400);
    expect((await send("twice", "repeated")).body.token).not.toBe(first.body.token);
    expect((await list("devices")).filter(({ name }) => name === "repeated")).toHaveLength(2);
    expect((await lists(`Device ${first.body.token}`)).status).toBe(200);

    const gateway = openDatabase({
      url: platform.databaseUrl,
      schema: "gateway",
      role: roleOf("gateway"),
      applicationName: "test",
      log: createLog({ service: "test", destination: { write: () => {} } }),
    });
    const kept = await gateway.many<{ status: number | null; body: Buffer | null }>(
      sql`select kept_answer.status, kept_answer.body from kept_answer where kept_answer.key = any(${["once", "twice"]}::text[])`,
    );
    await gateway.close();
    expect(kept).toEqual([
      { status: null, body: null },
      { status: null, body: null },
    ]);
  });
});
