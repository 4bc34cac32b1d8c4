import { setTimeout as sleep } from "node:timers/promises";
import { aPdf } from "@tessera/sent-files/testing/sample-files";
import { type PdfPage, readPdf, readQrCode } from "@tessera/testkit/read-pdf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kindOverSockets } from "./run-platform.ts";
import { eventData, itemData, listData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { type Answer, startTestPlatform, type TestPlatform } from "./test-platform.ts";

const { apiKey, eventPath, groundwork, ofEvent, ofOrganizer } = samplesOf("printers");
const as = `Token ${apiKey}`;
const otherEvent = eventPath.replace("sampleconf", "second");
const tokenOf = (name: string) => `token-of-${name}-`.padEnd(64, "0");
const start = "/ticketpdfrenderer/render_batch/";
const ticketAt = (position: number) => `${eventPath}/orderpositions/${position}/download/pdf/`;

const text = (content: string, bottom: number, more: object = {}) => ({
  ...{ type: "textarea", left: 20, bottom, width: 150, content, fontsize: 12, fontfamily: "Open Sans", bold: false },
  ...{ italic: false, align: "left", color: [0, 0, 0], downward: true, ...more },
});
const code = { type: "barcodearea", left: 100, bottom: 100, size: 50 };
const plain = [text("attendee_name", 250), text("price", 230), code];
const resellers = [text("other", 250, { text: "Sold by a reseller, order {order}" }), code];
const twoPages = [text("item", 250), text("secret", 250, { page: 2 })];

const textsOf = (page: PdfPage | undefined) => page?.texts.map((each) => each.text).join(" ") ?? "";

describe("tickets as PDF", () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform({ kind: kindOverSockets });
    const background = `data:application/pdf;base64,${aPdf({ pages: 2 }).toString("base64")}`;
    const position = (id: number, more: object = {}) =>
      positionData({ id, secret: `secret-of-${id}-kpk768q69gkbyr5f4h6w`, attendee_name: `Visitor ${id}`, ...more });
    const order = (id: number, more: object = {}) =>
      ofEvent("order", orderData({ code: `ORD${id}`, positions: [position(id)], ...more }));
    const key = (name: string, permissions: readonly string[]) =>
      ofOrganizer("api_key", { token: tokenOf(name), name, permissions, all_events: true });
    const answer = await platform.import([
      ...groundwork(),
      ofOrganizer("sales_channel", { identifier: "resellers", label: { en: "Resellers" } }),
      key("another", ["event.orders:read"]),
      key("editor", ["event.settings.general:write"]),
      ofEvent("event_settings", { locale: "en", ticket_download: true }),
      ofEvent("ticket_layout", { id: 1, name: "Plain", default: true, layout: plain }),
      ofEvent("ticket_layout", { id: 2, name: "Resellers", layout: resellers }),
      ofEvent("ticket_layout", { id: 3, name: "Two pages", layout: twoPages, background }),
      ofEvent("ticket_layout", { id: 4, name: "Empty", layout: [] }),
      ofEvent("ticket_layout", { id: 5, name: "Scanned", layout: [text("first_scan", 250)] }),
      ofEvent("ticket_layout_item", { id: 1, layout: 2, item: 1, sales_channel: "resellers" }),
      ofEvent("ticket_layout_item", { id: 2, layout: 3, item: 2, sales_channel: "web" }),
      ofEvent("checkin_list", listData()),
      order(1, { locale: "de" }),
      order(2, { sales_channel: "resellers" }),
      order(3, { status: "n" }),
      order(4, { positions: [position(4), position(5, { positionid: 2, canceled: true })] }),
      order(6, { positions: [position(6, { item: 2, variation: 22 })] }),
      ofEvent("event", eventData({ slug: "second" }), "second"),
      ofEvent("item", itemData({ category: null }), "second"),
      ofEvent("order", orderData({ code: "ELSE1", positions: [position(900)] }), "second"),
    ]);
    expect(answer).toMatchObject({ rejected: 0, settled: true });
    platform.keepOutOfLogs(apiKey, "token-of-", "secret-of-", "Visitor ");
  });
  afterAll(() => platform?.stop());

  const send = (method: string, path: string, options: { body?: unknown; by?: string } = {}) =>
    platform.request(method, path, {
      as: options.by ?? as,
      ...(options.body === undefined ? {} : { body: options.body }),
    });

  async function startBatch(parts: readonly object[]): Promise<string> {
    const { status, body } = await send("POST", `${eventPath}${start}`, { body: { parts } });
    expect(status).toBe(202);
    return new URL(body.download).pathname;
  }

  /** Asks until the job has ended, as clients do, and keeps what it said until then. */
  async function untilEnd(download: string): Promise<{ readonly end: Answer; readonly states: readonly string[] }> {
    const states: string[] = [];
    for (const until = Date.now() + 30_000; Date.now() < until; await sleep(50)) {
      const end = await send("GET", download);
      if (end.status !== 409) return { end, states };
      expect(end.headers.get("retry-after")).toBe("1");
      states.push(end.body.status);
    }
    throw new Error(`the job did not end: ${states.join()}`);
  }

  it("[L9.1, L33.2, L35.3, L40.1, L42.1, L42.2] are rendered into one file, in the order of the request, with the layouts that were chosen", async () => {
    const download = await startBatch([
      { orderposition: 2 },
      { orderposition: 1 },
      { orderposition: 1, override_channel: "resellers" },
      { orderposition: 3, override_layout: 3 },
      { orderposition: 1 },
    ]);
    expect(download).toMatch(new RegExp(`^${eventPath}/ticketpdfrenderer/download/[0-9a-f-]{36}/[0-9a-f-]{36}/$`));
    const { end, states } = await untilEnd(download);
    expect(states.every((state) => ["waiting", "running"].includes(state))).toBe(true);
    expect([end.status, end.headers.get("content-type"), end.headers.get("content-disposition")]).toEqual([
      200,
      "application/pdf",
      "attachment; filename=tickets.pdf",
    ]);
    const { pages } = await readPdf(end.bytes);
    expect(pages.map(textsOf)).toEqual([
      expect.stringContaining("Sold by a reseller, order ORD2"),
      expect.stringMatching(/Visitor 1.*23,00 €/),
      expect.stringContaining("Sold by a reseller, order ORD1"),
      expect.stringContaining("Standard ticket"),
      expect.stringContaining("secret-of-3-"),
      expect.stringMatching(/Visitor 1.*23,00 €/),
    ]);
    expect(pages.map(({ width }) => Math.round(width))).toEqual([595, 595, 595, 595, 595, 595]);
    expect(await readQrCode(end.bytes, { page: 1 })).toBe("secret-of-2-kpk768q69gkbyr5f4h6w");
    expect(await readQrCode(end.bytes, { page: 2 })).toBe("secret-of-1-kpk768q69gkbyr5f4h6w");
    expect((await send("GET", download)).bytes.equals(end.bytes)).toBe(true);
  });

  it("[L9.2, L9.3] print on the background of their layout, never on that of another, and in the built-in design without elements", async () => {
    const { end } = await untilEnd(
      await startBatch([
        { orderposition: 6 },
        { orderposition: 6, override_layout: 1 },
        { orderposition: 6, override_layout: 4 },
      ]),
    );
    const { pages } = await readPdf(end.bytes);
    expect(pages.map(textsOf)).toEqual([
      expect.stringContaining("T-shirt"),
      expect.stringContaining("secret-of-6-"),
      expect.stringMatching(/^(?!.*Sample Conference).*Visitor 6/),
      expect.stringMatching(/Sample Conference.*T-shirt - XL.*Visitor 6/),
    ]);
  });

  it("[L41.1, L41.2, L41.3] are refused by part where a ticket, a layout or a channel is not of the event", async () => {
    const refused = await send("POST", `${eventPath}${start}`, {
      body: {
        parts: [
          { orderposition: 1 },
          { orderposition: 900 },
          { orderposition: 5 },
          { orderposition: 1, override_layout: 9, override_channel: "magic" },
        ],
      },
    });
    const wrong = [expect.any(String)];
    expect([refused.status, refused.body]).toEqual([
      400,
      {
        parts: [
          {},
          { orderposition: wrong },
          { orderposition: wrong },
          { override_layout: wrong, override_channel: wrong },
        ],
      },
    ]);
    const many = Array.from({ length: 1001 }, () => ({ orderposition: 1 }));
    expect((await send("POST", `${eventPath}${start}`, { body: { parts: many } })).body).toEqual({ parts: wrong });
    expect((await send("POST", `${otherEvent}${start}`, { body: { parts: [{ orderposition: 1 }] } })).status).toBe(400);
  });

  it("[L43.1, L43.2] are downloaded one by one where that is allowed, at the address that the ticket tells", async () => {
    const { body } = await send("GET", `${eventPath}/checkinlists/1/positions/1/`);
    expect(body.downloads).toEqual([{ output: "pdf", url: expect.stringContaining(ticketAt(1)) }]);
    const ticket = await send("GET", ticketAt(1));
    expect([
      ticket.status,
      ticket.headers.get("x-tessera-warnings"),
      ticket.headers.get("content-disposition"),
    ]).toEqual([...[200, "0"], "attachment; filename=ORD1-1.pdf"]);
    const { pages } = await readPdf(ticket.bytes);
    expect(textsOf(pages[0])).toContain("Visitor 1");
    expect((await send("GET", ticketAt(3))).status).toBe(403);
    expect((await send("GET", ticketAt(5))).status).toBe(404);
    expect((await send("GET", ticketAt(900))).status).toBe(404);
    expect((await send("GET", ticketAt(1).replace(eventPath, otherEvent))).status).toBe(404);
  });

  it("[L10.11, L14.7, C2.26] show what is printed on them beside positions and scans, and print when they were scanned", async () => {
    const at = `${eventPath}/checkinlists/1/positions/`;
    const { body } = await send("GET", `${at}?pdf_data=true`);
    const [first] = body.results.filter(({ id }: { id: number }) => id === 1);
    expect(first.pdf_data).toMatchObject({
      attendee_name: "Visitor 1",
      order: "ORD1",
      price: expect.stringMatching(/^23,00\s€$/),
      images: {},
    });
    const scan = await send("POST", `${at}4/redeem/?pdf_data=true`, { body: { datetime: "2027-12-26T10:05:00Z" } });
    expect([scan.status, scan.body.position.pdf_data]).toEqual([
      201,
      expect.objectContaining({ attendee_name: "Visitor 4", item: "Standard ticket", first_scan: "2027-12-26 11:05" }),
    ]);
    const scanned = [4, 1].map((orderposition) => ({ orderposition, override_layout: 5 }));
    const { end } = await untilEnd(await startBatch(scanned));
    expect((await readPdf(end.bytes)).pages.map(textsOf)).toEqual(["2027-12-26 11:05", ""]);
  });
});
