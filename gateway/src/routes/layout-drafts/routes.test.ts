import { Fault } from "@tessera/kit/fault";
import { PreviewFormat } from "@tessera/protos/gen/ticketing/layout/v1/rendering";
import { beforeEach, describe, expect, it } from "vitest";
import { appOfEachTest, devices, inEvent, keys } from "../../testing/serve-app.ts";

const preview = `${inEvent}/ticketlayouts/preview/`;
const lint = `${inEvent}/ticketlayouts/lint/`;
const place = { organizer: "bigevents", event: "sampleconf" };
const elements = [{ type: "poweredby", left: 1, bottom: 1, size: 20, content: "dark" }];
const pdf = { upload: "8d1c2c5e-0f39-4a4d-9f7a-6b6a2b1d7e10", contentType: "application/pdf", size: 9, sha256: "aa" };

const app = appOfEachTest({
  findUploads: async (ids) => (ids.includes(pdf.upload) ? [{ ...pdf, name: "a.pdf" }] : []),
});
beforeEach(() => {
  app.peers.when("rendering", "previewLayout", async () => ({ content: Buffer.from("%PDF"), warnings: ["a", "b"] }));
  app.peers.when("rendering", "lintLayout", async () => ({ findings: [], tickets: 0 }));
});

describe("POST ticketlayouts/preview/", () => {
  it("[L45.1] answers the file of a ticket made of sample data, and how many warnings there are", async () => {
    expect(await app.send("POST", preview, { key: keys.settings, body: {} })).toMatchObject({
      status: 200,
      headers: {
        "content-type": "application/pdf",
        "content-disposition": "attachment; filename=preview.pdf",
        "content-security-policy": "default-src 'none'; sandbox",
        "x-tessera-warnings": "2",
      },
      text: "%PDF",
    });
    const draft = { layout: undefined, elements: undefined, background: undefined, withoutBackground: false };
    expect(app.peers.requestsOf("previewLayout")).toEqual([
      { ...place, draft, position: undefined, format: PreviewFormat.PDF, dpi: 150, page: 1 },
    ]);
  });

  it("[L45.1, L45.2, L46.1] takes a layout, elements, a background, a ticket, and what a picture is like", async () => {
    const body = {
      layout: 7,
      elements,
      background: `file:${pdf.upload}`,
      position: 42,
      format: "png",
      dpi: 600,
      page: 2,
    };
    const { status, headers } = await app.send("POST", preview, { body });
    expect([status, headers["content-type"]]).toEqual([200, "image/png"]);
    const draft = { layout: 7, elements: JSON.stringify(elements), background: pdf, withoutBackground: false };
    expect(app.peers.requestsOf("previewLayout")).toEqual([
      { ...place, draft, position: 42, format: PreviewFormat.PNG, dpi: 600, page: 2 },
    ]);
    await app.send("POST", preview, { body: { background: null } });
    expect(app.peers.requestsOf("previewLayout")[1]).toMatchObject({ draft: { withoutBackground: true } });
  });

  it("[L47.1] names every wrong field", async () => {
    const body = {
      layout: "x",
      elements: [{ type: "poweredby" }],
      background: 5,
      position: [],
      format: "gif",
      dpi: 35,
      page: 0,
    };
    const { status, json } = await app.send("POST", preview, { body: { ...body, background: {} } });
    expect(status).toBe(400);
    expect(Object.keys(json ?? {}).sort()).toEqual(Object.keys(body).sort());
    expect((await app.send("POST", preview, { body: { dpi: 601 } })).json).toEqual({ dpi: [expect.any(String)] });
    expect((await app.send("POST", preview, { body: { elements } })).status).toBe(200);
    expect((await app.send("POST", preview, { body: { background: "file:unknown" } })).json).toEqual({
      background: ["You have sent no file of this id within a day."],
    });
    app.peers.when("rendering", "previewLayout", () =>
      Promise.reject(
        new Fault("invalid", "invalid_draft", "wrong", { fields: { layout: ["none"], position: ["none"] } }),
      ),
    );
    expect(await app.send("POST", preview, { body: { layout: 8, position: 9 } })).toMatchObject({
      status: 400,
      json: { layout: ["none"], position: ["none"] },
    });
  });

  it("[L45.3] is not kept for an idempotency key", () => {
    expect(app.routes.find(({ name }) => name === "previewTicketLayout")).toMatchObject({ showsSecret: true });
  });

  it("[L47.2] needs the permission to read orders with a ticket; without one that to change settings serves as well", async () => {
    const statusOf = async (key: string, body: object) => (await app.send("POST", preview, { key, body })).status;
    expect(await statusOf(keys.reader, { position: 42 })).toBe(200);
    expect(await statusOf(keys.settings, { elements })).toBe(200);
    expect(await statusOf(keys.reader, { elements })).toBe(200);
    const asked = app.peers.calls.length;
    expect(await statusOf(keys.settings, { elements, position: 42 })).toBe(403);
    for (const key of [keys.none, keys.gate, keys.otherEvent, keys.otherOrganizer, devices.kiosk]) {
      expect(await statusOf(key, {})).toBe(403);
      expect(await statusOf(key, { position: 42 })).toBe(403);
    }
    expect(app.peers.calls).toHaveLength(asked);
  });
});

describe("POST ticketlayouts/lint/", () => {
  it("[L48.1] answers what was found, by element, which people count from 1", async () => {
    const findings = [{ element: 0, code: "outside_page", message: "It sticks out." }];
    app.peers.when("rendering", "lintLayout", async () => ({ findings, tickets: 12 }));
    expect(await app.send("POST", lint, { body: { elements } })).toMatchObject({
      status: 200,
      json: { tickets: 12, findings: [{ ...findings[0], element: 1 }] },
    });
  });

  it("[L47.1] names every wrong field", async () => {
    const { status, json } = await app.send("POST", lint, { body: { layout: {}, elements: 5, background: [] } });
    expect([status, Object.keys(json ?? {}).sort()]).toEqual([400, ["background", "elements", "layout"]]);
    const unknown = await app.send("POST", lint, { body: { background: "file:unknown" } });
    expect([unknown.status, Object.keys(unknown.json ?? {})]).toEqual([400, ["background"]]);
    expect(await app.send("POST", lint, { body: { background: "" } })).toMatchObject({
      status: 400,
      json: unknown.json,
    });
  });

  it("[L47.3] needs the permission to change settings, and that to read orders where tickets are read", async () => {
    const statusOf = async (key: string) => (await app.send("POST", lint, { key, body: {} })).status;
    expect([await statusOf(keys.settings), await statusOf(keys.all)]).toEqual([200, 200]);
    expect(app.peers.requestsOf("lintLayout")).toMatchObject([{ mayReadTickets: false }, { mayReadTickets: true }]);
    for (const key of [keys.none, keys.reader, keys.gate, keys.otherEvent, keys.otherOrganizer, devices.kiosk])
      expect(await statusOf(key)).toBe(403);
  });
});
