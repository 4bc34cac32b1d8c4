import { randomInt } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listData, orderData, positionData, samplesOf } from "../e2e/sample-records.ts";
import { type Answer, startTestPlatform, type TestPlatform } from "../e2e/test-platform.ts";
import { type Document, type Json, type Schema, shotsAt } from "./openapi-shots.ts";

const { apiKey, deviceKey, eventPath, groundwork, ofEvent } = samplesOf("properties");
/** As many as fit into the time, and as it takes to get each of these answers; FUZZ_RUNS makes them more. */
const runs = 800;
const seconds = 8;
const reached = [200, 201, 400, 404];
/** Longer than any answer here should take, however strange the question. */
const slowMs = 3000;

describe("whatever is sent", () => {
  let platform: TestPlatform;
  let range: ReturnType<typeof shotsAt>;

  beforeAll(async () => {
    platform = await startTestPlatform();
    const answer = await platform.import([
      ...groundwork(),
      ...Array.from({ length: 60 }, (_, index) =>
        ofEvent(
          "order",
          orderData({
            code: `FUZZ${index}`,
            positions: [positionData({ id: index + 1, secret: `fuzz-${index + 1}` })],
          }),
        ),
      ),
      ofEvent("checkin_list", listData()),
      ofEvent("checkin_list", listData({ id: 2, name: "Other", all_products: false, limit_products: [2] })),
    ]);
    expect(answer).toMatchObject({ rejected: 0, settled: true });
    const document = (await platform.request("GET", "/api/v1/openapi.json")).body as Document;
    range = shotsAt(document, {
      eventPath,
      credentials: [
        ...Array<string>(6).fill(`Token ${apiKey}`),
        `Device ${deviceKey}`,
        `Token ${platform.operatorKey}`,
      ],
    });
    platform.keepOutOfLogs(apiKey, deviceKey, "Zwiebelhuber");
  });
  afterAll(() => platform.stop());

  it("[S9.2] is never a failure of ours, never answered in an undeclared way, and never taken for something else", async () => {
    const seed = Number(process.env["FUZZ_SEED"] ?? randomInt(2 ** 31));
    const statuses = new Map<number, number>();
    const until = performance.now() + seconds * 1000;
    const property = fc.asyncProperty(range.shots, async ({ method, path, headers, body, sent }) => {
      if (performance.now() > until && reached.every((status) => statuses.has(status))) return;
      const started = performance.now();
      // Holds status and body against the document, too.
      const answer = await platform.request(method, path, { headers, ...(body === undefined ? {} : { body }) });
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      expect(answer.status).toBeLessThan(500);
      expect(performance.now() - started).toBeLessThan(slowMs);
      if (answer.status === 409 || answer.status === 429) expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
      if (answer.status >= 300 || sent === undefined || !isRecord(sent)) return;
      if (method === "POST" && path.includes("/redeem/")) expectScanAsSent(sent, answer);
      else if (method === "POST" && path.includes("/failed_checkins/")) expectRefusalAsSent(sent, answer);
      else if (method !== "GET" && path.includes("/checkinlists/")) await expectListAsSent(sent, answer);
    });
    await fc.assert(property, {
      seed,
      numRuns: Number(process.env["FUZZ_RUNS"] ?? runs),
      ...(process.env["FUZZ_PATH"] === undefined ? {} : { path: process.env["FUZZ_PATH"] }),
    });
    // A run that reaches nothing proves nothing.
    for (const status of reached) expect(statuses.get(status), `answers ${status}`).toBeGreaterThan(0);
  });

  /** Every known field that was sent is what is stored, read as leniently as the conventions say and no more. */
  function expectFieldsAsSent(body: string, sent: Readonly<Record<string, Json>>, answer: Answer): void {
    const shown = answer.body as Record<string, Json>;
    const fields = range.resolve({ $ref: `#/components/schemas/${body}` }).properties ?? {};
    for (const [name, schema] of Object.entries(fields)) {
      if (!Object.hasOwn(sent, name)) continue;
      const [before, after] = [sent[name] ?? null, shown[name] ?? null];
      expect(means(schema, before, after), `${name}: ${JSON.stringify(before)} became ${JSON.stringify(after)}`).toBe(
        true,
      );
    }
  }

  function expectRefusalAsSent(sent: Readonly<Record<string, Json>>, answer: Answer): void {
    // One that comes again with its nonce is answered as it was stored first.
    if (typeof sent["nonce"] === "string" && sent["nonce"] !== "") return;
    // What scanners name so is left out where it is no id of the event.
    const lenient = ["item", "variation", "subevent"];
    const given = Object.fromEntries(
      Object.entries(sent).filter(([name, value]) => value !== null && value !== "" && !lenient.includes(name)),
    );
    const code = given["raw_barcode"];
    // C6.25: of a code so much is kept.
    if (typeof code === "string") given["raw_barcode"] = [...code].slice(0, 1000).join("");
    expectFieldsAsSent("FailedCheckinBody", given, answer);
  }

  async function expectListAsSent(sent: Readonly<Record<string, Json>>, answer: Answer): Promise<void> {
    expectFieldsAsSent("CheckinListBody", sent, answer);
    const shown = answer.body as Record<string, Json>;
    const again = await platform.request("GET", `${eventPath}/checkinlists/${Number(shown["id"])}/`, {
      as: `Token ${apiKey}`,
    });
    expect(again.body).toEqual(answer.body);
  }

  function expectScanAsSent(sent: Readonly<Record<string, Json>>, answer: Answer): void {
    const { force, simulate, type, datetime } = sent;
    for (const flag of [force, simulate]) expect([...truths, ...untruths, null, undefined]).toContainEqual(flag);
    expect(["entry", "exit", "", null, undefined]).toContainEqual(type);
    const isSimulated = truths.includes(simulate ?? null);
    expect(Object.hasOwn(answer.body as object, "explanation")).toBe(isSimulated);
    if (isSimulated) return;
    if (answer.status !== 201 || typeof datetime !== "string" || typeof sent["nonce"] === "string") return;
    const { checkins } = answer.body.position as { checkins: { datetime: string; type: string }[] };
    expect(checkins.map((scan) => toMicros(scan.datetime))).toContain(toMicros(datetime));
  }
});

const truths: readonly Json[] = [true, 1, "1", "true"];
const untruths: readonly Json[] = [false, 0, "0", "false", -0];

/** Whether a value that was sent may be shown as another one. */
function means(schema: Schema, sent: Json, shown: Json): boolean {
  const types = [schema.type ?? []].flat();
  if (types.length === 0) return JSON.stringify(sent) === JSON.stringify(shown);
  if (sent === null) return types.includes("null") && shown === null;
  if (types.includes("boolean")) return (shown === true ? truths : untruths).includes(sent);
  if (types.includes("integer")) return shown === null ? sent === "" : Number(sent) === shown;
  if (types.includes("array")) {
    if (!Array.isArray(sent) || !Array.isArray(shown)) return false;
    const before = [...new Set(sent.map(Number))];
    return before.join() === [...new Set(shown)].join();
  }
  if (schema.format === "date-time")
    return typeof sent === "string" && typeof shown === "string" && toMicros(sent) === toMicros(shown);
  if (typeof sent === "number") return String(sent) === shown;
  return typeof sent === "string" && sent.trim() === shown && sent.isWellFormed() && !sent.includes("\u0000");
}

/** Microseconds since 1970 as the conventions read a datetime, in integers of any size. */
function toMicros(datetime: string): bigint {
  const [, day, minute, second = "00", fraction = "", zone = "Z"] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?(Z|[+-]\d\d:?\d\d)?)?$/.exec(datetime.trim()) ??
    [];
  const ms = Date.parse(`${day}T${minute ?? "00:00"}:${second}${zone.replace(/(\d\d)(\d\d)$/, "$1:$2")}`);
  expect(Number.isNaN(ms), `${datetime} was taken for a datetime`).toBe(false);
  return BigInt(ms) * 1000n + BigInt(fraction.padEnd(6, "0"));
}

function isRecord(value: Json): value is Readonly<Record<string, Json>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
