import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileWith } from "@tessera/sent-files/testing/sample-files";
import { breakCamera, holdCode, installCamera, takeCameraAway } from "@tessera/testkit/browser/fake-camera";
import { type Browser, type Page, startPageBrowser } from "@tessera/testkit/browser/page-browser";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { handsOn, openPage, phone } from "./page-hands.ts";
import { eventData, listData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

const { apiKey, eventPath, groundwork, ofEvent } = samplesOf("pages");
const organizer = "/api/v1/organizers/pages";

const ticket = (id: number, changes: Record<string, unknown> = {}) =>
  positionData({
    id,
    positionid: id - 2000,
    secret: `secret-of-ticket-${id}`,
    pseudonymization_id: `P${id}`,
    ...changes,
  });

/** So much later than the other event that this one is offered first. */
const onDay = (day: number) => ({ date_from: new Date(Date.UTC(2028, 0, 1 + day, 19)).toISOString() });

function records(): unknown[] {
  const seat = { name: "Row 3, seat 4", zone_name: "", row_name: "3", seat_number: "4", seat_guid: "3-4" };
  return [
    ...groundwork(),
    ofEvent("question", {
      ...{ id: 1, question: { en: "Which meal?", de: "Welches Essen?" }, type: "C", required: true, items: [2] },
      ...{ ask_during_checkin: true, position: 1 },
      options: [
        { id: 11, identifier: "VEG", position: 1, answer: { en: "Vegetarian" } },
        { id: 12, identifier: "FISH", position: 2, answer: { en: "Fish" } },
      ],
    }),
    ofEvent("item", { id: 8, name: { en: "Student ticket" } }),
    ofEvent("item", { id: 9, name: { en: "Festival pass" }, media_policy: "new", media_type: "barcode" }),
    ofEvent("question", {
      ...{ id: 2, question: { en: "Student card" }, type: "F", required: true, items: [8] },
      ...{ ask_during_checkin: true, position: 2, options: [] },
    }),
    ofEvent("checkin_list", listData({ id: 1, name: "Main gate", include_pending: true })),
    ofEvent(
      "checkin_list",
      listData({
        id: 2,
        name: "Later",
        rules: { isAfter: [{ var: "now" }, { buildTime: ["custom", "2099-01-01T10:00:00Z"] }, 0] },
      }),
    ),
    ofEvent(
      "order",
      orderData({
        checkin_text: "Give them a badge",
        positions: [
          ticket(2001, { seat }),
          ticket(2002, {
            item: 2,
            variation: 22,
            attendee_name: "Zoë Question",
            attendee_name_parts: { full_name: "Zoë Question" },
          }),
          ticket(2005, { item: 2, variation: 22 }),
          ticket(2006, { secret: "kz8m2qa7" }),
          ticket(2007, { item: 8 }),
          ticket(2008, { item: 9 }),
          ticket(2009, { item: 9 }),
          ticket(2003, { attendee_name: "Ada Lovelace", attendee_name_parts: { full_name: "Ada Lovelace" } }),
        ],
      }),
    ),
    ofEvent("order", orderData({ code: "PEND1", status: "n", positions: [ticket(2004)] })),
    ofEvent("event", eventData({ slug: "series", name: { en: "Series" }, ...onDay(0), has_subevents: true }), "series"),
    ...Array.from({ length: 51 }, (_, index) => index + 1).flatMap((id) => [
      ofEvent("subevent", { id, name: { en: `Evening ${id}` }, ...onDay(id) }, "series"),
      ofEvent("checkin_list", listData({ id: 100 + id, name: `List ${id}`, subevent: id }), "series"),
    ]),
  ];
}

describe("a phone's browser", () => {
  let platform: TestPlatform;
  let shown: Browser;
  let page: Page;
  let device: number;
  let folder: string;
  const troubles: string[] = [];

  const operate = async (path: string, body: object) =>
    (await platform.request("POST", `${organizer}/${path}`, { as: `Token ${platform.operatorKey}`, body })).body;
  const open = (address: string) => {
    const prepare = (opened: Page) => Promise.all([installCamera(opened), opened.evaluateOnNewDocument(patience)]);
    return openPage(shown, address, { troubles, prepare });
  };
  const link = (code: string) => `${platform.baseUrl}/scan/#setup=${code}`;
  const { text, see, until, press, write, type, examine } = handsOn(() => page);

  /** Whether the list and the gate are in sight: in the sheet that is open, or above one that leaves the camera free. */
  const showsPlace = () =>
    page.evaluate(`(() => {
      const where = document.querySelector("dialog .where");
      const isOwn = where.getClientRects().length > 0;
      const place = isOwn ? where : document.querySelector(".head");
      const { top, bottom } = place.getBoundingClientRect();
      const isFree = isOwn
        ? where.contains(document.elementFromPoint(innerWidth / 2, (top + bottom) / 2))
        : top >= 0 && bottom < document.querySelector("dialog").getBoundingClientRect().top;
      return /Main gate.*West/s.test(place.textContent) && isFree;
    })()`);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tessera-scanner-page-"));
    [platform, shown] = await Promise.all([startTestPlatform(), startPageBrowser()]);
    expect(await platform.import(records())).toMatchObject({ rejected: 0, settled: true });
  });
  afterAll(async () => {
    await shown?.close();
    await platform?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it("[G2.3] is set up by its link, once, and the code leaves the address", async () => {
    const made = await operate("devices/", { name: "North", gate: 7, all_events: true, security_profile: "full" });
    device = made.device_id;
    page = await open(link(made.initialization_token));
    await see("Main gate");
    expect(page.url()).toBe(`${platform.baseUrl}/scan/`);
    await examine("choose");
    await press("Main gate");
    await page.waitForSelector(".camera.on");
    await examine("scan");
  });

  it("[G3.8] admits a ticket before the camera, and refuses it the second time with when and where", async () => {
    await holdCode(page, "secret-of-ticket-2001");
    await page.waitForSelector(".verdict.admitted");
    for (const words of [
      "Admitted",
      "Standard ticket",
      "Peter Zwiebelhuber",
      "Row 3, seat 4",
      "ABC12",
      "Give them a badge",
    ])
      expect(await text(".verdict")).toContain(words);
    await examine("admitted");
    await holdCode(page, "");
    await press("Next ticket");
    await type("secret-of-ticket-2001");
    await page.waitForSelector(".verdict.refused");
    expect(await text(".verdict")).toMatch(/Already scanned[\s\S]*Last entry: .+West, on this device/);
    await examine("already-redeemed");
    await press("Next ticket");
  });

  it("[G3.9] asks open questions, and admits with their answers", async () => {
    await type("secret-of-ticket-2002");
    await page.waitForSelector(".verdict.question");
    await press("Continue");
    await see("Answer this question.");
    await examine("question");
    await (await page.waitForSelector(`.verdict input[value="12"]`))?.click();
    await press("Continue");
    await page.waitForSelector(".verdict.admitted");
    expect(await text(".verdict")).toContain("T-shirt – XL");
    await press("Next ticket");
  });

  it("[G3.14] takes a photo or a file as an answer, and says before what will not do", async () => {
    const choose = async (name: string, content: string | Buffer) => {
      const path = join(folder, name);
      await writeFile(path, content);
      const [chooser] = await Promise.all([
        page.waitForFileChooser(),
        page.click(".verdict label.button:last-of-type"),
      ]);
      await chooser.accept([path]);
    };
    await type("secret-of-ticket-2007");
    await page.waitForSelector(".verdict.question");
    await press("Continue");
    await see("Answer this question.");
    await choose("notes.txt", "This is no picture.");
    await see("no picture and no PDF: text/plain");
    await choose("large.png", Buffer.alloc(10 * 1024 * 1024 + 1));
    await see("larger than 10 MB");
    await examine("file-too-large");
    await choose("broken.png", "This is no picture.");
    await press("Continue");
    await see("The server does not take this file:");
    await choose("card.png", fileWith("image/png", "a card"));
    await see("card.png, ");
    await examine("file-chosen");
    await page.setOfflineMode(true);
    await press("Continue");
    await see("There is no network, and files need one.");
    await examine("file-no-network");
    await page.setOfflineMode(false);
    await press("Continue");
    await page.waitForSelector(".verdict.admitted");
    expect(await text(".verdict")).toContain("Student ticket");
    const { body } = await platform.request("GET", `${eventPath}/checkinlists/1/positions/2007/`, {
      as: `Token ${apiKey}`,
    });
    expect(body).toMatchObject({
      answers: [{ question: 2, answer: expect.stringContaining("/orderpositions/2007/answer/2/") }],
    });
    await press("Next ticket");
  });

  it("[G3.15] exchanges a ticket for the medium that comes next, and can be left", async () => {
    const bring = async (code: string) => {
      await write(".verdict .code input", code);
      await page.keyboard.press("Enter");
    };
    await type("secret-of-ticket-2008");
    await see("Now scan the code of the wristband or card.");
    await bring("secret-of-ticket-2008");
    await see("That is the ticket itself.");
    await examine("exchange");
    await press("Cancel");
    await type("secret-of-ticket-2008");
    await see("It has to be a new one.");
    await holdCode(page, "wristband-0001");
    await page.waitForSelector(".verdict.admitted");
    expect(await text(".verdict")).toContain("Exchanged for wristband-0001");
    await examine("exchanged");
    await holdCode(page, "");
    await press("Next ticket");
    await type("secret-of-ticket-2009");
    await see("Now scan");
    await bring("wristband-0001");
    await page.waitForSelector(".verdict.refused");
    expect(await text(".verdict")).toContain("Medium is in use");
    await examine("medium-in-use");
    await press("Take another medium");
    await see("Now scan");
    await bring("wristband-0002");
    await page.waitForSelector(".verdict.admitted");
    await press("Next ticket");
  });

  it("[G3.10] finds a ticket by name, checks it in, and takes the scan back with a reason", async () => {
    await press("Search");
    await write("dialog input", "lovelace");
    await see("Ada Lovelace");
    await examine("search");
    await press("Check in");
    await page.waitForSelector(".verdict.admitted");
    await press("Next ticket");
    await press("Take back");
    await write("dialog input", "Wrong person");
    await examine("annul");
    await press("Take back", "dialog");
    await see("Taken back.");
    await press("Close", "dialog");
    await press("Last scans");
    expect(await text("dialog")).not.toContain("Lovelace");
    await examine("history");
    await press("Close", "dialog");
  });

  it("[G3.11] admits who has not paid, and overrides a refusal, when a person asks", async () => {
    await type("secret-of-ticket-2004");
    await page.waitForSelector(".verdict.refused");
    expect(await text(".verdict")).toContain("Not paid");
    await examine("unpaid");
    await press("Admit unpaid");
    await page.waitForSelector(".verdict.admitted");
    await press("Next ticket");
    await type("secret-of-ticket-2001");
    await page.waitForSelector(".verdict.refused");
    await press("Admit anyway");
    await press("Yes, admit");
    await page.waitForSelector(".verdict.admitted");
    expect(await text(".verdict")).toContain("by override");
    await press("Next ticket");
  });

  it("[G3.12] says what is no ticket, and what no ticket has", async () => {
    await type("x".repeat(1001));
    await see("longer than any ticket");
    await examine("too-long");
    await press("Next ticket");
    await type("\u0089PNG\u001a");
    await see("This code is not a text");
    await press("Next ticket");
    await type(link("kpp4jn8g2ynznnp6"));
    await see("This is a link that sets up a scanner, no ticket.");
    await examine("setup-link-scanned");
    await press("Next ticket");
    await type("https://menu.example.com/today?x=1");
    await see("This is a web address of menu.example.com, and no ticket.");
    await examine("web-address");
    await press("Next ticket");
    await type("secret-of-nothing");
    await see("Unknown code");
    expect(await text(".verdict")).toContain("No ticket has this code.");
    await examine("unknown-code");
    await press("Next ticket");
  });

  it("[G3.6] reads a scanner that types with another keyboard layout, and says so", async () => {
    const asked: string[] = [];
    const listen = (request: { url(): string }) => void asked.push(request.url());
    /** As a scanner of the US layout does on a German device. */
    const scan = (places: string, typed: string, end: string, at = "body") =>
      page.evaluate(`{
        const target = document.querySelector(${JSON.stringify(at)});
        for (const [code, key] of ${JSON.stringify([
          ...places.split(" ").map((place, index) => [place, [...typed][index]]),
          [end, end],
        ])}) {
          const isTyped = target.dispatchEvent(new KeyboardEvent("keydown", { key, code, bubbles: true, cancelable: true }));
          if (!isTyped || target.value === undefined) continue;
          target.value += key;
          target.dispatchEvent(new Event("input", { bubbles: true }));
        }
      }`);
    const places = "KeyK KeyZ Digit8 KeyM Digit2 KeyQ KeyA Digit7";
    await scan(places, "ky8m2qa7", "Enter");
    await page.waitForSelector(".verdict.admitted");
    await press("Next ticket");
    await see("another keyboard layout, English (US), than this device has: German (QWERTZ)");
    await examine("other-layout");
    await press("Understood");
    await page.waitForFunction(`!document.body.innerText.includes("QWERTZ")`);
    // Now it is known: the server is asked once.
    page.on("request", listen);
    await scan(places, "ky8m2qa7", "Tab", ".code input");
    await page.waitForSelector(".verdict.refused");
    expect(await text(".verdict")).toContain("Already scanned");
    expect(asked.filter((url) => url.includes("/redeem/"))).toHaveLength(1);
    page.off("request", listen);
    await press("Next ticket");
    await scan("KeyN KeyY KeyZ KeyK KeyX", "nzykx", "Enter");
    await see("Unknown code");
    expect(await text(".verdict")).toContain("the code was read as nyzkx and as nzykx");
    await examine("layout-unsure");
    await press("Next ticket");
  });

  it("[G4.5] says that the clock is wrong, and by how much, until it is right", async () => {
    const setClock = (changeMs: number) =>
      page.evaluate(`{ const real = Date.now; Date.now = () => real.call(Date) + ${changeMs}; }`);
    const scan = async () => {
      await type("secret-of-ticket-2001");
      await page.waitForSelector(".verdict.refused");
      await press("Next ticket");
    };
    await setClock(3_600_000);
    await scan();
    await see("The clock of this device is 60 minutes fast.");
    await examine("clock-fast");
    await press("Last scans");
    const [, shown = ""] = /(\d+:\d+ [AP]M) Refused/.exec(await text("dialog")) ?? [];
    // What the page knows of the right time is as old as an answer takes.
    const minutes = await page.evaluate(`[-60_000, 0, 60_000].map((ago) => {
      const form = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit" });
      return form.format(new Date(new Date().getTime() - ago));
    })`);
    expect(minutes).toContain(shown);
    await press("Close", "dialog");
    await setClock(-3_600_000 - 100 * 60_000);
    await scan();
    await see("The clock of this device is 1.7 hours slow.");
    await setClock(100 * 60_000);
    await scan();
    await page.waitForFunction(`!document.body.innerText.includes("The clock of this device")`);
  });

  it("[G4.2] says in words why there is no camera, and takes it again", async () => {
    await takeCameraAway(page);
    await see("The camera was taken away.");
    await examine("camera-taken");
    await breakCamera(page, "NotAllowedError");
    await press("Try again");
    await see("may not use the camera");
    await examine("camera-refused");
    await breakCamera(page, "NotFoundError");
    await press("Try again");
    await see("has no camera");
    await breakCamera(page, undefined);
    await press("Try again");
    await page.waitForSelector(".camera.on");
    expect(await text(".camera")).toContain("Hold a code into the frame.");
  });

  it("[G4.3] fits small and large screens, in both languages, light and dark", async () => {
    for (const width of [320, 390, 820, 1440]) {
      await page.setViewport({ width, height: width > 800 ? 900 : 640 });
      const wide = await page.evaluate("document.documentElement.scrollWidth");
      expect(wide, `${width}`).toBe(width);
      await examine(`width-${width}`);
    }
    await page.setViewport(phone);
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
    await press("Menu");
    await press("Deutsch");
    await see("Liste wechseln");
    expect(await page.$eval("dialog .link", (link) => link.getAttribute("href"))).toMatch(/\/licenses-\w+\.txt$/);
    expect(await page.$eval("html", (element) => element.getAttribute("lang"))).toBe("de");
    await examine("menu-dark-german");
    await press("English");
    await press("Close", "dialog");
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
  });

  it("[G4.4] shows the list and the gate above a form that is scrolled, on a small screen", async () => {
    await page.setViewport({ width: 320, height: 568 });
    await type("secret-of-ticket-2005");
    await page.waitForSelector(".verdict.question");
    await page.$eval(".verdict .content", (content) => content.scrollTo(0, content.scrollHeight));
    expect(await showsPlace()).toBe(true);
    await examine("question-scrolled");
    await press("Cancel");
    await page.setViewport(phone);
  });

  it("[G2.7] says that the server does not know its device, in a search, too", async () => {
    await page.evaluate(`{
      const send = window.fetch;
      const unknown = () => new Response('{"detail":"Invalid token."}', { status: 401 });
      window.fetch = async (url, request) => (String(url).includes("/search/") ? unknown() : send(url, request));
    }`);
    await press("Search");
    await write("dialog input", "lovelace");
    await see("The server does not know this scanner");
    await examine("unknown");
    await page.reload();
    await page.waitForSelector(".camera.on");
    expect(await text("h1")).toBe("Main gate");
  });

  it("[G2.4] scans in one tab", async () => {
    const first = page;
    page = await open(`${platform.baseUrl}/scan/`);
    await see("Another tab scans");
    expect(await page.$("video")).toBeNull();
    await examine("another-tab");
    const second = page;
    await press("Scan here");
    await page.waitForSelector(".camera.on");
    page = first;
    await see("Another tab scans");
    await press("Scan here");
    await page.waitForSelector(".camera.on");
    await second.close();
  });

  it("[G2.5] is empty once its device is revoked, and says so; its link works no second time", async () => {
    await operate(`devices/${device}/revoke/`, {});
    await type("secret-of-ticket-2001");
    await see("This scanner was revoked");
    await examine("revoked");
    expect(await page.evaluate("indexedDB.databases().then((all) => all.length)")).toBe(0);
    await press("Set up again");
    await see("Set up this scanner");
    await page.close();
    page = await open(link("used-before-00000"));
    await see("was used before");
    await examine("used-link");
  });

  it("[G2.6] offers each list of a long series, and narrows the choice", async () => {
    const made = await operate("devices/", { name: "South", gate: 7, all_events: true, security_profile: "full" });
    device = made.device_id;
    await page.close();
    page = await open(link(made.initialization_token));
    await see(/Main gate[\s\S]*Series/);
    await page.click("details:not([open]) summary");
    await see("List 51");
    expect(await page.$$eval("li:last-child details li", (lists) => lists.length)).toBe(51);
    await examine("choose-of-many");
    await page.setViewport({ width: 1280, height: 800 });
    await examine("choose-of-many-wide");
    await page.setViewport(phone);
    await write("details input", "evening 51");
    await until("document.querySelectorAll('li:last-child details li').length === 1");
    await examine("choose-narrowed");
    await press("List 51 Evening 51");
    await page.waitForSelector(".camera.on");
    expect(await text("h1")).toBe("List 51 (Evening 51)");
  });

  it("[G2.5] is empty at once where its device was revoked before it opened an event", async () => {
    await press("Menu");
    await press("Change list");
    await see("Main gate");
    await operate(`devices/${device}/revoke/`, {});
    const asked: string[] = [];
    page.on("request", (request) => void asked.push(request.url()));
    await page.click("details:not([open]) summary");
    await see("This scanner was revoked");
    expect(asked.filter((url) => url.includes("/device/info"))).toEqual([]);
    await until("indexedDB.databases().then((all) => all.length === 0)");
  });

  it("[G3.7] of a device in public scans, and offers nothing else", async () => {
    const profile = "pretixscan_online_kiosk";
    const made = await operate("devices/", { name: "Door", gate: 7, all_events: true, security_profile: profile });
    await page.close();
    page = await open(link(made.initialization_token));
    await press("Main gate");
    await page.waitForSelector(".camera.on");
    expect(await page.$$(".tools .button")).toEqual([]);
    await holdCode(page, "secret-of-ticket-2001");
    await page.waitForSelector(".verdict.refused");
    expect(await page.$$eval(".verdict .button", (buttons) => buttons.map(({ textContent }) => textContent))).toEqual([
      "Next ticket",
    ]);
    await examine("kiosk");
  });

  it("is judged by an axe that finds what is wrong", async () => {
    await page.evaluate(`document.querySelector(".verdict").append(new Image())`);
    await expect(examine("image without words")).rejects.toThrow(/image-alt/);
  });

  it("[G1.4] has broken no policy and thrown no error", () => {
    expect(troubles).toEqual([]);
  });
});

/** A busy machine is no bad network: the server has all the time that it needs, and the page decides nothing. */
const patience = `const limit = AbortSignal.timeout.bind(AbortSignal);
AbortSignal.timeout = (ms) => limit(ms < 1000 ? 15000 : ms);`;
