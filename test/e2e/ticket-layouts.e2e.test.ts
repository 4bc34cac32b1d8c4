import { fileWith } from "@tessera/sent-files/testing/sample-files";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kindOverSockets } from "./run-platform.ts";
import { samplesOf } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

const { apiKey, deviceKey, eventPath, groundwork, ofEvent, ofOrganizer } = samplesOf("designers");
const as = `Token ${apiKey}`;
const layouts = `${eventPath}/ticketlayouts/`;
const items = `${eventPath}/ticketlayoutitems/`;
const pdf = (mark: string) => fileWith("application/pdf", mark);
const mark = { type: "poweredby", left: 10, bottom: "20.50", size: 20, content: "dark" };

describe("ticket layouts", () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform({ kind: kindOverSockets });
    const answer = await platform.import([
      ...groundwork(),
      ofOrganizer("sales_channel", { identifier: "resellers", label: { en: "Resellers" } }),
      ofEvent("ticket_layout", {
        ...{ id: 1, name: "Imported", default: true, layout: [{ ...mark, left: -2.5 }], item_assignments: [] },
        background: `data:application/pdf;base64,${pdf("imported").toString("base64")}`,
      }),
      ofEvent("ticket_layout_item", { id: 4, layout: 1, item: 1, sales_channel: "web" }),
    ]);
    expect(answer).toMatchObject({ rejected: 0, settled: true });
    platform.keepOutOfLogs(apiKey);
  });
  afterAll(() => platform?.stop());

  const send = (method: string, path: string, body?: unknown) =>
    platform.request(method, path, {
      ...{ as, ...(body === undefined ? {} : { body }) },
      ...(typeof body === "string" ? { headers: { "content-type": "application/json" } } : {}),
    });
  const upload = async (bytes: Uint8Array, credential = as) => {
    const { status, body } = await platform.request("POST", "/api/v1/upload", {
      ...{ as: credential, body: bytes },
      headers: { "content-type": "application/pdf", "content-disposition": 'attachment; filename="a.pdf"' },
    });
    expect(status).toBe(201);
    return body.id as string;
  };
  /** What is at a public address, on any gateway. */
  const fetchPublic = (address: string, headers = {}) =>
    platform.request("GET", new URL(address).pathname, { headers });

  it("[L7.1] are there after an import, with their backgrounds and assignments", async () => {
    const { body } = await send("GET", layouts);
    expect(body.results).toEqual([
      {
        ...{ id: 1, name: "Imported", default: true, layout: [{ ...mark, left: -2.5 }] },
        background: expect.stringMatching(/\/pub\/designers\/sampleconf\/ticketlayouts\/[0-9a-f]{40}\.pdf$/),
        item_assignments: [{ sales_channel: "web", item: 1 }],
      },
    ]);
    expect((await send("GET", items)).body.results).toEqual([{ id: 4, layout: 1, item: 1, sales_channel: "web" }]);
    expect((await fetchPublic(body.results[0].background)).body).toContain("[[imported]]");
  });

  it("[L1.2, L3.1, L4.1, L5.2, L5.3, L6.1] are created, changed, assigned and deleted, and their backgrounds with them", async () => {
    const id = await upload(pdf("first"));
    const element = '{"content":"white", "size":1.50,"type":"poweredby","left":1e1,"bottom":"007"}';
    const created = await send("POST", layouts, `{"name":"VIP","layout":[${element}],"background":"${id}"}`);
    expect(created.status).toBe(201);
    const at = `${layouts}${created.body.id}/`;
    const raw = await fetch(`${platform.baseUrl}${at}`, { headers: { authorization: as } });
    expect(await raw.text()).toContain(`"layout":[${element}],"background":"http`);

    const { background } = created.body;
    const whole = await fetchPublic(background);
    expect([whole.status, whole.headers.get("content-type")]).toEqual([200, "application/pdf"]);
    expect(whole.body).toContain("[[first]]");
    const part = await fetchPublic(background, { range: "bytes=0-4" });
    expect([part.status, part.body]).toEqual([206, "%PDF-"]);
    const again = await fetchPublic(background, { "if-none-match": whole.headers.get("etag") ?? "" });
    expect(again.status).toBe(304);

    expect((await send("PATCH", at, { default: true })).body).toEqual({
      non_field_errors: ["Another layout of this event is the default already."],
    });
    const assigned = [{ item: 2 }, { item: 1, sales_channel: "resellers" }];
    expect((await send("PUT", `${at}assignments/`, assigned)).body.item_assignments).toEqual([
      { sales_channel: "web", item: 2 },
      { sales_channel: "resellers", item: 1 },
    ]);
    expect((await send("PUT", `${at}assignments/`, [{ item: 1 }, { item: 9, sales_channel: "magic" }])).body).toEqual([
      { non_field_errors: [expect.stringContaining("Layout 1")] },
      { item: [expect.any(String)], sales_channel: ["Object with identifier=magic does not exist."] },
    ]);

    const replaced = await send("PUT", at, { name: "Plain", layout: [], background: await upload(pdf("second")) });
    expect(replaced.body).toMatchObject({ name: "Plain", layout: [], default: false });
    expect((await fetchPublic(background)).status).toBe(404);
    expect((await fetchPublic(replaced.body.background)).body).toContain("[[second]]");
    expect((await send("DELETE", `${layouts}1/`)).status).toBe(204);
    expect((await send("GET", at)).body).toMatchObject({ default: true });
    expect((await send("DELETE", at)).status).toBe(204);
    expect((await fetchPublic(replaced.body.background)).status).toBe(404);
    expect((await send("GET", layouts)).body).toMatchObject({ count: 0, results: [] });
    expect((await send("GET", items)).body).toMatchObject({ count: 0 });
  });

  it("[L45.1, L45.2, L46.1, L48.1] are previewed and checked before they are stored, also on an upload", async () => {
    const background = await upload(pdf("draft"));
    const elements = [mark, { type: "barcodearea", left: 10, bottom: 40, size: 5 }];
    const drawn = await send("POST", `${layouts}preview/`, { elements, background, format: "png", dpi: 72 });
    expect([drawn.status, drawn.headers.get("content-type"), drawn.headers.get("x-tessera-warnings")]).toEqual([
      ...[200, "image/png", "0"],
    ]);
    const printed = await send("POST", `${layouts}preview/`, {});
    expect([printed.status, printed.headers.get("content-type")]).toEqual([200, "application/pdf"]);
    expect((await send("POST", `${layouts}lint/`, { elements })).body).toMatchObject({
      findings: [{ element: 2, code: "code_too_small" }],
    });
    const foreign = await upload(pdf("of a device"), `Device ${deviceKey}`);
    for (const path of ["preview", "lint"])
      expect((await send("POST", `${layouts}${path}/`, { elements, background: foreign })).body).toEqual({
        background: ["You have sent no file of this id within a day."],
      });
  });
});
