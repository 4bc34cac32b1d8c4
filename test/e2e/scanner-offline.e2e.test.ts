import { setTimeout as sleep } from "node:timers/promises";
import { installCamera } from "@tessera/testkit/browser/fake-camera";
import { type Browser, type Page, startPageBrowser } from "@tessera/testkit/browser/page-browser";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { handsOn, openPage } from "./page-hands.ts";
import { listData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";
import { startUnreliableNetwork, type UnreliableNetwork } from "./unreliable-network.ts";

const { apiKey, groundwork, ofEvent } = samplesOf("pages-offline");
const organizer = "/api/v1/organizers/pages-offline";
const codeOf = (id: number) => `secret-of-ticket-${id}`;
const numbers = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index);

const ticket = (id: number, changes: Record<string, unknown> = {}) =>
  positionData({ id, positionid: id - 2000, secret: codeOf(id), pseudonymization_id: `P${id}`, ...changes });

function records(): unknown[] {
  const question = {
    ...{ id: 1, question: { en: "Which meal?" }, type: "C", required: true, items: [2], ask_during_checkin: true },
    options: [{ id: 11, identifier: "VEG", position: 1, answer: { en: "Vegetarian" } }],
  };
  return [
    ...groundwork(),
    ofEvent("question", question),
    ofEvent("checkin_list", listData({ id: 1, name: "Main gate" })),
    ofEvent(
      "order",
      orderData({
        positions: [...numbers(2001, 400).map((id) => ticket(id)), ticket(2500, { item: 2, variation: 22 })],
      }),
    ),
  ];
}

describe("a phone whose network comes and goes", () => {
  let platform: TestPlatform;
  let network: UnreliableNetwork;
  let shown: Browser;
  let page: Page;
  const troubles: string[] = [];
  /** Codes whose tickets a crew has seen to be admitted. */
  const admitted = new Set<string>();

  const ask = async (method: "GET" | "POST", path: string, body?: object) =>
    (await platform.request(method, `${organizer}/${path}`, { as: `Token ${apiKey}`, ...(body && { body }) })).body;
  const call = async (path: string, body: object) =>
    (await platform.request("POST", `${organizer}/${path}`, { as: `Token ${platform.operatorKey}`, body })).body;
  const open = (hash = "") => {
    const prepare = (opened: Page) => {
      opened.on("console", (message) => {
        const [, code] = /^admitted (.+)$/.exec(message.text()) ?? [];
        if (code !== undefined) admitted.add(code);
      });
      return installCamera(opened);
    };
    return openPage(shown, `${network.url}/scan/${hash}`, { troubles, prepare });
  };
  const { text, see, until, press, type: bring, examine } = handsOn(() => page);
  /** Waits for the next verdict, and returns its words. */
  const verdict = async () => {
    await page.waitForSelector(".verdict");
    return text(".verdict");
  };
  const next = async () => {
    await press("Next ticket");
    await until("document.querySelector('dialog') === null");
  };
  const results = async (path: string): Promise<Record<string, unknown>[]> =>
    (await ask("GET", `events/sampleconf/${path}`)).results;
  /** How many scans of each ticket have succeeded. */
  const countScans = async () => {
    const counts = new Map<unknown, number>();
    for (let at = 1; ; at += 1) {
      const found = await results(`checkins/?successful=true&page=${at}`).catch(() => undefined);
      if (found === undefined) return counts;
      for (const { position } of found) counts.set(position, (counts.get(position) ?? 0) + 1);
      if (found.length < 50) return counts;
    }
  };

  beforeAll(async () => {
    [platform, shown] = await Promise.all([startTestPlatform(), startPageBrowser()]);
    network = await startUnreliableNetwork(platform.baseUrl);
    expect(await platform.import(records())).toMatchObject({ rejected: 0, settled: true });
  });
  afterAll(async () => {
    await shown?.close();
    await network?.close();
    await platform?.stop();
  });

  it("[G6.3] has a copy of the event soon after the list is chosen", async () => {
    const made = await call("devices/", { name: "North", gate: 7, all_events: true, security_profile: "full" });
    page = await open(`#setup=${made.initialization_token}`);
    await press("Main gate");
    await see("data up to date · all uploaded");
    expect(await page.evaluate("indexedDB.databases().then((all) => all.length)")).toBe(1);
  });

  it("[G6.1, G6.8] decides as the server does while there is none, says so, and keeps its scans", async () => {
    network.become("refuses");
    await bring(codeOf(2001));
    const first = await verdict();
    expect(first).toMatch(/Admitted[\s\S]*Decided on this device, without the server[\s\S]*Standard ticket/);
    await examine("offline-admitted");
    await next();
    await bring(codeOf(2001));
    expect(await verdict()).toMatch(/Refused[\s\S]*Already scanned[\s\S]*Last entry: .+on this device/);
    await next();
    await bring("secret-of-nothing");
    expect(await verdict()).toMatch(/Unknown code/);
    await next();
    await bring(codeOf(2500));
    expect(await verdict()).toContain("Which meal?");
    await (await page.waitForSelector(`.verdict input[value="11"]`))?.click();
    await press("Continue");
    await page.waitForSelector(".verdict.admitted");
    await next();
    await see(/No network: this page decides by itself\.[\s\S]*to upload: 4, since/);
    await examine("offline-ready");
  });

  it("[G6.4] starts without a network, and knows what it has scanned", async () => {
    await page.close();
    page = await open();
    await see(/No network: this page decides by itself\.[\s\S]*data of the last visit · to upload: 4/);
    await bring(codeOf(2001));
    expect(await verdict()).toMatch(/Already scanned/);
    await examine("offline-already-redeemed");
    await next();
    await bring(codeOf(2002));
    expect(await verdict()).toMatch(/Admitted/);
    await next();
  });

  it("[G6.2, G6.5] uploads its scans once there is one again, each once, and shows what the server would have refused", async () => {
    const elsewhere = await ask("POST", "checkinrpc/redeem/", { lists: [1], secret: codeOf(2003), nonce: "elsewhere" });
    expect(elsewhere).toMatchObject({ status: "ok" });
    await bring(codeOf(2003));
    expect(await verdict()).toMatch(/Admitted/);
    await next();
    // What comes sooner after it was made counts as made with a network.
    await sleep(10_500);
    network.become("passes");
    await see("all uploaded");
    const counts = await countScans();
    for (const [id, many] of [
      [2001, 1],
      [2002, 1],
      [2500, 1],
      [2003, 2],
    ] as const)
      expect([id, counts.get(id)]).toEqual([id, many]);
    await press("To look at: 1");
    await see(/Already scanned[\s\S]*…t-2003/);
    await examine("offline-doubtful");
    await press("Seen");
    await until("document.querySelector('dialog') === null");
    expect(await text()).not.toContain("To look at");
    expect((await results("doubles/")).map(({ position }) => position)).toEqual([2003]);
    const failed = await results("checkins/?successful=false");
    const reasons = failed.map(({ error_reason: reason }) => reason);
    expect(reasons.toSorted()).toEqual(["already_redeemed", "already_redeemed", "already_redeemed", "invalid"]);
  });

  it("[G6.1] decides after a moment where the network stalls, and takes no second scan for the first", async () => {
    network.become("stalls");
    await bring(codeOf(2010));
    expect(await verdict()).toMatch(/Admitted/);
    await next();
    network.become("passes");
    await see("all uploaded");
    expect((await countScans()).get(2010)).toBe(1);
  });

  it("[G6.2] loses no scan, and makes none twice, while the tab is killed at any moment of a bad day", async () => {
    const kills = Number(process.env["KILLS"] ?? 20);
    const modes = ["passes", "refuses", "delays", "loses", "stalls"] as const;
    let id = 2020;
    const brought: number[] = [];
    await page.close();
    for (let kill = 0; kill < kills; kill += 1) {
      network.become(modes[kill % modes.length] ?? "passes");
      page = await open();
      await page.evaluate(reportVerdicts);
      const dies = sleep(200 + Math.random() * 2500);
      const works = (async () => {
        await page.waitForSelector(".scanning");
        for (let count = 0; count < 3; count += 1) {
          id += 1;
          brought.push(id);
          await page.evaluate(`window.broughtNow = ${JSON.stringify(codeOf(id))}`);
          await page.type(".code input", codeOf(id));
          await page.keyboard.press("Enter");
          await page.waitForSelector(".verdict");
          await page.evaluate('document.querySelector(".verdict .next").click()');
          await page.waitForFunction("document.querySelector('dialog') === null");
        }
      })().catch(() => {});
      await Promise.race([dies, works]);
      await page.close();
      await works;
    }
    network.become("passes");
    page = await open();
    await see("all uploaded");
    expect(admitted.size).toBeGreaterThan(3);
    const wrong: unknown[] = [];
    const counts = await countScans();
    for (const each of brought) {
      const many = counts.get(each) ?? 0;
      if (many > 1 || (many === 0 && admitted.has(codeOf(each)))) wrong.push([each, many]);
    }
    expect(wrong).toEqual([]);
    expect(await results("doubles/")).toHaveLength(1);
    expect(troubles).toEqual([]);
  });
});

/** Says in the console which ticket a crew has just seen to be admitted. */
const reportVerdicts = `new MutationObserver(() => {
  if (document.querySelector(".verdict.admitted") !== null) console.log("admitted " + window.broughtNow);
}).observe(document.body, { childList: true, subtree: true })`;
