import { installCamera } from "@tessera/testkit/browser/fake-camera";
import { type Browser, type Page, startPageBrowser } from "@tessera/testkit/browser/page-browser";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { handsOn, openPage } from "./page-hands.ts";
import { listData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";
import { startUnreliableNetwork, type UnreliableNetwork } from "./unreliable-network.ts";

const codeOf = (id: number) => `secret-of-ticket-${id}`;
const big = samplesOf("storers");
/** Another organizer, whose event and list are named alike. */
const small = samplesOf("smallevents");

function recordsOf({ groundwork, ofEvent }: typeof big, { list, from }: { list: string; from: number }): unknown[] {
  const ticket = (id: number) =>
    positionData({ id, positionid: id - from, secret: codeOf(id), pseudonymization_id: `P${id}` });
  const ids = Array.from({ length: 20 }, (_, index) => from + 1 + index);
  return [
    ...groundwork(),
    ofEvent("checkin_list", listData({ id: 1, name: list })),
    ofEvent("order", orderData({ positions: ids.map(ticket) })),
  ];
}

describe("a browser that stores badly", () => {
  let platform: TestPlatform;
  let network: UnreliableNetwork;
  let shown: Browser;
  let page: Page;
  const troubles: string[] = [];
  const asked: string[] = [];

  const createDevice = async (organizer: string) => {
    const body = { name: "North", gate: 7, all_events: true, security_profile: "full" };
    const as = `Token ${platform.operatorKey}`;
    return (await platform.request("POST", `/api/v1/organizers/${organizer}/devices/`, { as, body })).body;
  };
  const open = (hash = "") => {
    const prepare = (opened: Page) => {
      opened.on("request", (request) => void asked.push(request.url().replace(/^.*\/api\/v1\//, "")));
      return installCamera(opened);
    };
    return openPage(shown, `${network.url}/scan/${hash}`, { troubles, prepare });
  };
  const { text, see, until, press, type } = handsOn(() => page);
  const scan = async (code: string) => {
    await type(code);
    await until("document.querySelector('.verdict') !== null");
    const said = await text(".verdict");
    // One that admits leaves by itself.
    await page.evaluate(`document.querySelector(".verdict .next")?.click()`);
    await until("document.querySelector('dialog') === null");
    return said;
  };
  const countScans = async (id: number, { apiKey, eventPath } = big) => {
    const { body } = await platform.request("GET", `${eventPath}/checkins/?successful=true&position=${id}`, {
      as: `Token ${apiKey}`,
    });
    return (body.results as { position: number }[]).filter(({ position }) => position === id).length;
  };
  const uploads = () => asked.filter((path) => path.includes("redeem_batch")).length;

  beforeAll(async () => {
    [platform, shown] = await Promise.all([startTestPlatform(), startPageBrowser()]);
    network = await startUnreliableNetwork(platform.baseUrl);
    for (const records of [
      recordsOf(big, { list: "Main gate", from: 2000 }),
      recordsOf(small, { list: "Side gate", from: 3000 }),
    ])
      expect(await platform.import(records)).toMatchObject({ rejected: 0, settled: true });
  });
  afterAll(async () => {
    await shown?.close();
    await network?.close();
    await platform?.stop();
  });

  it("[G6.3] is set up", async () => {
    const { initialization_token: code } = await createDevice("storers");
    page = await open(`#setup=${code}`);
    await press("Main gate");
    await see("data up to date · all uploaded");
    expect(await text("h1")).toBe("Main gate");
  });

  it("[G6.8] or not any more uploads each scan once, and what was taken back stays so", async () => {
    network.become("refuses");
    expect(await scan(codeOf(2001))).toMatch(/Admitted[\s\S]*Decided on this device/);
    expect(await scan(codeOf(2002))).toMatch(/Admitted[\s\S]*Decided on this device/);
    await page.evaluate(`window.putBefore = IDBObjectStore.prototype.put;
      IDBObjectStore.prototype.put = () => { throw new DOMException("full", "QuotaExceededError"); };`);
    await press("Take back");
    await page.type("dialog input", "Wrong person");
    await press("Take back", "dialog");
    await see("Taken back.");
    await press("Close", "dialog");
    await see("This browser stores no more scans.");
    const before = uploads();
    network.become("passes");
    await see("all uploaded");
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect([await countScans(2001), await countScans(2002)]).toEqual([1, 0]);
    expect(uploads() - before).toBe(1);
    await page.evaluate("IDBObjectStore.prototype.put = putBefore; undefined");
  });

  it("[G6.8] or hangs keeps no crew waiting, and uploads what it has in memory", async () => {
    await page.evaluate(`new Promise((resolve) => {
      window.hangs = true;
      indexedDB.open("tessera-scanner").onsuccess = ({ target: { result } }) => {
        const store = result.transaction(["kept", "packs", "changes", "scans"], "readwrite").objectStore("scans");
        const hold = () => { store.get("none").onsuccess = () => { resolve(); if (window.hangs) hold(); else result.close(); }; };
        hold();
      };
    })`);
    network.become("refuses");
    expect(await scan(codeOf(2003))).toMatch(/Admitted[\s\S]*Decided on this device/);
    await see(/This browser stores no more scans[\s\S]*to upload: 1/);
    network.become("passes");
    await see("all uploaded");
    expect(await countScans(2003)).toBe(1);
    await page.evaluate("window.hangs = false");
  });

  it("[G2.4] uploads what the tab before has stored last, and that one forgets its own", async () => {
    network.become("refuses");
    expect(await scan(codeOf(2004))).toMatch(/Admitted/);
    await page.evaluate(`new Promise((resolve) => {
      indexedDB.open("tessera-scanner").onsuccess = ({ target: { result } }) => {
        result.transaction("scans").objectStore("scans").getAll().onsuccess = ({ target: { result: scans } }) => {
          window.scanBefore = scans.find(({ ticket }) => ticket === 2004);
          result.close();
          resolve();
        };
      };
    })`);
    const former = page;
    page = await open();
    await see("Another tab scans");
    await press("Scan here");
    await see("to upload: ");
    network.become("passes");
    await see("all uploaded");
    // It was decided when the tab had to stop, and is stored late.
    await former.evaluate(`new Promise((resolve) => {
      indexedDB.open("tessera-scanner").onsuccess = ({ target: { result } }) => {
        const late = { ...scanBefore, nonce: "late", code: ${JSON.stringify(codeOf(2005))}, ticket: 2005 };
        result.transaction("scans", "readwrite").objectStore("scans").put(late).onsuccess = () => {
          result.close();
          resolve();
        };
      };
    })`);
    await expect.poll(() => countScans(2005)).toBe(1);
    expect(await countScans(2004)).toBe(1);
    const before = uploads();
    [page] = [former];
    await press("Scan here");
    await see("all uploaded");
    expect(uploads()).toBe(before);
  });

  it("[G6.9] decides nothing by what it had of another organizer, and uploads for each what is its own", async () => {
    network.become("refuses");
    expect(await scan(codeOf(2006))).toMatch(/Admitted/);
    for (const each of await shown.pages()) if (each !== page) await each.close();
    network.become("passes");
    const { initialization_token: code } = await createDevice("smallevents");
    const former = page;
    page = await open(`#setup=${code}`);
    await see("Another tab scans");
    // The link is not lost by that.
    await press("Scan here");
    await see("Side gate");
    await former.close();
    network.become("refuses");
    await press("Side gate");
    await see("No copy of the event yet");
    network.become("passes");
    await see("data up to date · all uploaded");
    expect([await countScans(2006), await countScans(2006, small)]).toEqual([1, 0]);
    network.become("refuses");
    expect(await scan(codeOf(2007))).toContain("Unknown code");
    expect(await scan(codeOf(3001))).toMatch(/Admitted[\s\S]*Decided on this device/);
    network.become("passes");
    await see("all uploaded");
    expect(await countScans(3001, small)).toBe(1);
    expect(troubles).toEqual([]);
  });
});
