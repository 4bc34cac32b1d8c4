import { readPdf } from "@tessera/testkit/read-pdf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { itemData, listData, samplesOf } from "./sample-records.ts";
import { type Answer, startTestPlatform, type TestPlatform } from "./test-platform.ts";
import { untilEnded } from "./until-ended.ts";

const { apiKey, eventPath, groundwork, ofEvent } = samplesOf("harbours");
const as = `Token ${apiKey}`;
const batches = `${eventPath}/offlinesalesbatches/`;
const lists = `${eventPath}/checkinlists/`;
const element = { type: "textarea", left: "20.00", bottom: "200.00", fontsize: "20.0", width: "150.00", align: "left" };

describe("offline sales", () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform();
    const answer = await platform.import([
      ...groundwork(),
      ofEvent("tax_rule", { id: 1, name: { en: "VAT" }, rate: "19.00", price_includes_tax: true }),
      ofEvent("item", itemData({ id: 71, name: { en: "Box office ticket" }, tax_rule: 1 })),
      ofEvent("item", itemData({ id: 72, name: { en: "Unlimited by nothing" } })),
      ofEvent("quota", { id: 71, name: "Box office", size: 60, items: [71], variations: [] }),
      ofEvent("checkin_list", listData({ id: 71, name: "Everything" })),
      ofEvent("checkin_list", listData({ id: 72, name: "Box office only", all_products: false, limit_products: [71] })),
      ofEvent("ticket_layout", {
        ...{ id: 71, name: "Box office", default: false },
        layout: [
          { ...element, content: "order", fontfamily: "Open Sans", color: [0, 0, 0, 1], bold: false, italic: false },
        ],
      }),
    ]);
    expect(answer).toMatchObject({ rejected: 0, settled: true });
    platform.keepOutOfLogs(apiKey, "for the harbour office");
  });
  afterAll(() => platform?.stop());

  const send = (method: string, path: string, body?: unknown) =>
    platform.request(method, path, { as, ...(body === undefined ? {} : { body }) });
  const wanted = (changes: object = {}) => ({ layout: 71, item: 71, sales_channel: "web", amount: 50, ...changes });

  const outcomeOf = (address: string) =>
    untilEnded(address, async (path) => {
      const answer = await send("GET", path);
      if (answer.status === 409) expect(answer.headers.get("retry-after")).toBe("1");
      return answer;
    });

  async function create(changes: object = {}): Promise<Answer> {
    const { status, body } = await send("POST", batches, wanted(changes));
    expect([status, body]).toEqual([202, { check: expect.stringContaining(`${batches}check/`) }]);
    return outcomeOf(body.check);
  }

  const positions = async (list: number) => {
    const found: { id: number; order: string; secret: string }[] = [];
    for (let page = 1; ; page += 1) {
      const { body } = await send("GET", `${lists}${list}/positions/?page=${page}`);
      found.push(...body.results);
      if (body.next === null) return found;
    }
  };
  const counts = async (list: number) => {
    const { body } = await send("GET", `${lists}${list}/status/`);
    return [body.position_count, body.checkin_count];
  };

  it("[O12.1, O11.1, O11.4] are made, and gates admit them on every list the moment they are shown", async () => {
    const before = await counts(71);
    const made = await create({ comment: "for the harbour office" });
    expect(made.status).toBe(200);
    const { id, orders } = made.body;
    expect(made.body).toMatchObject({ item: 71, layout: 71, amount: 50, testmode: false, variation: null });
    expect(new Set(orders).size).toBe(50);
    const sold = (await positions(72)).filter(({ order }) => orders.includes(order));
    expect(sold).toHaveLength(50);
    expect(await counts(72)).toEqual([50, 0]);
    expect(await counts(71)).toEqual([before[0] + 50, before[1]]);
    for (const [index, { secret }] of sold.slice(0, 4).entries()) {
      const scan = await send("POST", `${lists}${index % 2 === 0 ? 71 : 72}/positions/${secret}/redeem/`, {});
      expect(scan).toMatchObject({ status: 201, body: { status: "ok" } });
    }
    expect((await send("GET", `${batches}${id}/`)).body).toEqual(made.body);
    const { orders: _orders, ...listed } = made.body;
    expect((await send("GET", batches)).body).toMatchObject({ count: 1, results: [listed] });
  });

  it("[O13.1, O13.2, O13.4, O13.5] are rendered in the order of their orders, with the layout of the batch", async () => {
    const { body } = await send("GET", batches);
    const at = `${batches}${body.results[0].id}/`;
    const { orders } = (await send("GET", at)).body;
    const started = await send("POST", `${at}render/`);
    expect([started.status, started.body]).toEqual([202, { download: expect.stringContaining(`${at}download/`) }]);
    expect(await outcomeOf(started.body.download)).toMatchObject({ status: 200 });
    const { pathname } = new URL(started.body.download);
    const file = await fetch(`${platform.baseUrl}${pathname}`, { headers: { authorization: as } });
    expect([file.headers.get("content-type"), file.headers.get("x-tessera-warnings")]).toEqual([
      "application/pdf",
      "0",
    ]);
    const { pages } = await readPdf(new Uint8Array(await file.arrayBuffer()));
    expect(pages.map(({ texts }) => texts.map(({ text }) => text).join(""))).toEqual(orders);
    const other = pathname.replace(at, `${batches}999/`);
    expect((await send("GET", other)).status).toBe(404);
    const again = await send("POST", `${at}render/`);
    expect(await outcomeOf(again.body.download)).toMatchObject({ status: 200 });
    expect(new URL(again.body.download).pathname).not.toBe(pathname);
    expect((await send("GET", pathname)).status).toBe(200);
  });

  it("[O14.1, O14.2] are canceled when that is forced, and gates refuse them", async () => {
    const { body } = await send("GET", batches);
    const at = `${batches}${body.results[0].id}/`;
    const { orders } = (await send("GET", at)).body;
    const sold = (await positions(72)).filter(({ order }) => orders.includes(order));
    const refused = await send("POST", `${at}cancel/`);
    expect(refused).toMatchObject({ status: 400, body: { scanned_orders: expect.any(Array) } });
    expect(refused.body.scanned_orders.sort()).toEqual(
      sold
        .slice(0, 4)
        .map(({ order }) => order)
        .sort(),
    );
    expect(body.results[0].canceled).toBeNull();
    const { canceled } = (await send("POST", `${at}cancel/`, { force: true })).body;
    expect(canceled).toMatch(/^20/);
    expect((await send("GET", batches)).body.results[0].canceled).toBe(canceled);
    expect((await send("POST", `${at}cancel/`)).status).toBe(200);
    const scan = await send("POST", `${lists}71/positions/${sold[10]?.secret}/redeem/`, { canceled_supported: true });
    expect(scan.body).toMatchObject({ status: "error", reason: "canceled" });
    expect((await send("POST", `${at}render/`)).status).toBe(400);
    // Its quota is back.
    expect((await create({ amount: 60, testmode: true })).status).toBe(200);
  });
});
