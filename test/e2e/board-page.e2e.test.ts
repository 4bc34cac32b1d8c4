import { type Browser, type Page, startPageBrowser } from "@tessera/testkit/browser/page-browser";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { handsOn, openPage, phone } from "./page-hands.ts";
import { listData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";
import { startUnreliableNetwork, type UnreliableNetwork } from "./unreliable-network.ts";

const { eventPath, groundwork, ofEvent } = samplesOf("boards");
const organizer = "/api/v1/organizers/boards";
const wall = { width: 1600, height: 900 };

const tickets = Array.from({ length: 12 }, (_, index) =>
  positionData({
    ...{ id: 2001 + index, positionid: index + 1, secret: `secret-of-ticket-${index + 1}` },
    pseudonymization_id: `P${index}`,
  }),
);

const records = () => [
  ...groundwork(),
  ofEvent("checkin_list", listData({ id: 1, name: "Field", hard_limit: 5, soft_limit: 4 })),
  ofEvent("checkin_list", listData({ id: 2, name: "Stage", takes_from: [1] })),
  ofEvent("order", orderData({ positions: tickets })),
];

describe("the live board", () => {
  let platform: TestPlatform;
  let shown: Browser;
  let page: Page;
  let token: string;
  let link: string;
  let network: UnreliableNetwork;
  const troubles: string[] = [];
  const { text, see, until, press, examine } = handsOn(() => page);

  const operate = async (method: string, path: string, body?: object) =>
    (await platform.request(method, `${organizer}/${path}`, { as: `Token ${platform.operatorKey}`, body })).body;
  const makeLink = async (name: string): Promise<string> =>
    (await operate("POST", "signinlinks/", { name, all_events: true })).link.replace(platform.baseUrl, network.url);
  const scan = async (list: number, ticket: number, body: object = {}) =>
    (
      await platform.request("POST", `${eventPath}/checkinlists/${list}/positions/secret-of-ticket-${ticket}/redeem/`, {
        ...{ as: `Device ${token}`, body },
      })
    ).status;

  beforeAll(async () => {
    [platform, shown] = await Promise.all([startTestPlatform(), startPageBrowser()]);
    network = await startUnreliableNetwork(platform.baseUrl);
    expect(await platform.import(records())).toMatchObject({ rejected: 0, settled: true });
    ({ token } = await operate("POST", "devices/", {
      ...{ name: "North 1", gate: 7, all_events: true, security_profile: "full" },
    }));
  });
  afterAll(async () => {
    await shown?.close();
    await network?.close();
    await platform?.stop();
  });

  it("[B3.7] is opened by a link, once, which stays in no history", async () => {
    link = await makeLink("Crew chief");
    page = await openPage(shown, link, { troubles });
    await see("Field");
    expect(page.url()).toMatch(/\/board\/#event=\w+$/);
    await examine("board-quiet");
  });

  it("[B3.2] shows who is inside, how near a limit is, and that entering one list leaves another", async () => {
    expect(await Promise.all([1, 2, 3, 4].map((ticket) => scan(1, ticket)))).toEqual([201, 201, 201, 201]);
    await see(/4\s+inside/);
    await see("Above 4: let in slowly.");
    expect(await scan(1, 5)).toBe(201);
    expect(await scan(1, 6)).toBe(200);
    await see("Full: at most 5. Entries are refused.");
    await see(/Field: [45] inside, the limit is 4/);
    await examine("board-full");
    await press(`Seen: ${await text(".alarm strong")}`);
    await see("seen by Crew chief");
    expect(await scan(2, 1)).toBe(201);
    await see("Above 4: let in slowly.");
    expect(await text()).toMatch(/Stage\s+1\s+inside/);
  });

  it("[B3.4, B3.5] shows gates, their refusals, and opens one", async () => {
    await see(/Refused\s+1/);
    await see(/Not allowed now\s+West\s+Field/);
    await page.setViewport(wall);
    await examine("board-wall");
    await press("Entries");
    await until(`document.querySelector('th[aria-sort="descending"]')?.innerText === "Entries"`);
    await press("West");
    await see("North 1");
    expect(await text("dialog")).toMatch(/Entries 6 · Exits 0 · Refused 1/);
    await examine("board-gate");
    await page.setViewport(phone);
    await examine("board-gate-phone");
    await press("Close", "dialog");
    await until("document.querySelector('dialog') === null");
  });

  it("[B3.6] says that it has no data, and goes on by itself", async () => {
    network.become("refuses");
    await see(/No data for \d+s/);
    await examine("board-stale");
    network.become("passes");
    await until(`document.querySelector(".pill")?.innerText === "Live"`);
    expect(await text()).not.toContain("No data for");
  });

  it("[B3.8, B3.9] has its words in German, and passes in the dark", async () => {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
    await press("Deutsch");
    await see("sind drin");
    expect(await text()).toContain("In der letzten Minute");
    await examine("board-german-dark");
    await page.setViewport(wall);
    await examine("board-wall-dark");
    await press("English");
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
  });

  it("[B5.1, B5.2, B5.3] reports on a day", async () => {
    await press("Open the report");
    await see(/Tickets let in\s+5\s+Entries\s+6\s+Exits\s+1\s+Refused\s+1\s+Most inside\s+5 · /);
    const shown = await text();
    expect(shown).toMatch(/Field\s+5\s+1\s+1\s/);
    expect(shown).toMatch(/Stage\s+1\s+0\s+0\s/);
    expect(shown).toMatch(/West\s+6\s+1\s+1\s/);
    expect(shown).toMatch(/North 1\s+6\s+1\s+1\s/);
    expect(shown).toMatch(/Not allowed now\s+1\s/);
    await examine("report-wall");
    await page.select("select", "2");
    await see(/Tickets let in\s+1\s+Entries\s+1\s/);
    expect(page.url()).toMatch(/#event=\w+&report=\d{4}-\d\d-\d\d&list=2$/);
    await page.reload();
    await see(/Tickets let in\s+1\s+Entries\s+1\s/);
    await page.setViewport(phone);
    await press("The day before");
    await see("There was no scan on this day.");
    await examine("report-nothing-phone");
    await press("The day after");
    await see(/Tickets let in\s+1\s/);
    await examine("report-phone");
  });

  it("[B5.4, B5.5] prints the report without its buttons, and goes on after an outage", async () => {
    const hidden = `["nav", ".foot"].every((part) => getComputedStyle(document.querySelector(part)).display === "none")`;
    await page.emulateMediaType("print");
    expect(await page.evaluate(hidden)).toBe(true);
    await page.emulateMediaType("screen");
    const hrefs = await page.$$eval("a[download]", (links) => links.map((link) => link.getAttribute("href") ?? ""));
    expect(hrefs.map((href) => new URL(href).search)).toEqual([
      expect.stringMatching(/^\?date=\d{4}-\d\d-\d\d&list=2&format=pdf$/),
      expect.stringMatching(/^\?date=\d{4}-\d\d-\d\d&list=2&format=csv$/),
    ]);
    for (const href of hrefs)
      expect(await page.evaluate((address) => fetch(address).then(({ status }) => status), href)).toBe(200);
    network.become("refuses");
    await page.select("select", "1");
    await see("The server does not answer.");
    network.become("passes");
    await see(/Tickets let in\s+5\s/);
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
    await press("Deutsch");
    await see("Eingelassene Tickets");
    await examine("report-german-dark-phone");
    await press("English");
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
    await press("Live board");
    await see("In the last minute");
  });

  it("[B3.7] lets a person choose another event, and says so when the session has ended", async () => {
    await press("Other event");
    await see("Which event?");
    await examine("board-choose");
    const { results } = await operate("GET", "sessions/");
    const { id } = (results as { id: string; state: string }[]).find(({ state }) => state === "in use") ?? { id: "" };
    await operate("DELETE", `sessions/${id}/`);
    await page.reload();
    await see("Sign in to the live board");
    await examine("board-signed-out");
    await page.goto(link);
    await see("This link did not sign you in");
    await examine("board-used-link");
    expect(troubles).toEqual([]);
  });
});
