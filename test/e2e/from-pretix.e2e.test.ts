import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillStub, inEvent, stubEvent, stubOrder, stubOrganizer } from "@tessera/cli/from-pretix/testing/stub-event";
import { type StubPretix, startStubPretix, stubToken } from "@tessera/cli/from-pretix/testing/stub-pretix";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runCommand } from "./command.ts";
import { apiKey, ofOrganizer } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

const count = 700;
const orders = inEvent("orders/");
const codeOf = (index: number) => (100_000 + index).toString(36).toUpperCase();

describe("tessera import --from-pretix", () => {
  let platform: TestPlatform;
  let stub: StubPretix;
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "tessera-from-pretix-"));
    stub = await startStubPretix({ pageSize: 50 });
    fillStub(stub);
    stub.lists.set(
      orders,
      Array.from({ length: count }, (_, index) =>
        stubOrder(codeOf(index), { datetime: new Date(Date.UTC(2027, 10, 1, 0, index)).toISOString() }),
      ),
    );
    platform = await startTestPlatform();
    platform.keepOutOfLogs(stubToken, apiKey, "Quillfeather", "buyer@example.org", `ticket-${codeOf(7).toLowerCase()}`);
  });
  afterAll(async () => {
    await platform.stop();
    await stub.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const stateFile = () => join(directory, "state.json");
  const start = () =>
    runCommand(
      ["import", "--from-pretix", stub.url, "--organizer", stubOrganizer, "--event", stubEvent, "--state", stateFile()],
      { BASE_URL: platform.baseUrl, TESSERA_OPERATOR_KEY: platform.operatorKey, PRETIX_TOKEN: stubToken },
    );
  const list = `/api/v1/organizers/${stubOrganizer}/events/${stubEvent}/checkinlists/1/`;
  const read = async (path: string) =>
    (await platform.request("GET", `${list}${path}`, { as: `Token ${apiKey}` })).body;
  const orderQueries = () => stub.requests.filter(({ path }) => path === orders).map(({ query }) => query);

  it("[R1.10, R1.12, R1.13, R10.4] continues after kill -9, its tickets are admitted, and a second run changes nothing", async () => {
    stub.interfere = ({ path, query }) => path === orders && query.get("page") === "13";
    const killed = start();
    await expect.poll(() => readFile(stateFile(), "utf8").catch(() => "")).toContain('"reached"');
    killed.process.kill("SIGKILL");
    await killed.ended;
    stub.interfere = undefined;
    stub.requests.length = 0;

    expect(await start().ended).toMatchObject({
      code: 0,
      stderr: "",
      stdout: expect.not.stringContaining("Rejected"),
    });
    const [resumed] = orderQueries();
    expect(Date.parse(resumed?.get("created_since") ?? "")).toBeGreaterThan(Date.UTC(2027, 10, 1, 0, 100));
    expect(resumed?.get("modified_since")).toBeNull();

    await platform.import([
      ofOrganizer("api_key", { token: apiKey, name: "tests", permissions: ["*"], all_events: true }, stubOrganizer),
    ]);
    expect(await read("status/")).toMatchObject({ position_count: count, checkin_count: 0 });
    const redeem = () =>
      platform.request("POST", `${list}positions/ticket-${codeOf(7).toLowerCase()}/redeem/`, {
        as: `Token ${apiKey}`,
        body: {},
      });
    expect((await redeem()).body).toMatchObject({ status: "ok", position: { order: codeOf(7) } });

    const before = await read("positions/?page_size=20&ordering=positionid");
    const again = await start().ended;
    expect(again).toMatchObject({ code: 0, stderr: "" });
    expect(again.stdout).not.toMatch(/^ +(?:order|item) /m);
    expect(orderQueries().at(-1)?.get("modified_since")).toBe("2027-12-10T11:59:00Z");
    expect(await read("positions/?page_size=20&ordering=positionid")).toEqual(before);
    expect(await read("status/")).toMatchObject({ position_count: count, checkin_count: 1 });
    expect((await redeem()).body).toMatchObject({ status: "error", reason: "already_redeemed" });
    for (const text of [stubToken, "Quillfeather"])
      expect(again.stdout + (await readFile(stateFile(), "utf8"))).not.toContain(text);
  });

  it("reports missing options before it sends a request", async () => {
    stub.requests.length = 0;
    const { code, stderr } = await runCommand(["import", "--from-pretix", stub.url, "--organizer", "x"]).ended;
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("PRETIX_TOKEN") });
    expect(stub.requests).toEqual([]);
  });
});
