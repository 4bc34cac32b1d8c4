import { Fault } from "@tessera/kit/fault";
import { beforeEach, describe, expect, it } from "vitest";
import { aLayout } from "../../testing/fake-peers.ts";
import { appOfEachTest, devices, inEvent, keys, publicBase } from "../../testing/serve-app.ts";

const layouts = `${inEvent}/ticketlayouts/`;
const items = `${inEvent}/ticketlayoutitems/`;
const json = { "content-type": "application/json" };
const form = { "content-type": "application/x-www-form-urlencoded" };
const place = { organizer: "bigevents", event: "sampleconf" };
const noSuchLayout = () => new Fault("not_found", "layout_not_found", "The event has no such layout.");

const mebibyte = 1024 * 1024;
const pdf = { upload: "8d1c2c5e-0f39-4a4d-9f7a-6b6a2b1d7e10", name: "a.pdf", contentType: "application/pdf" };
const uploads = new Map(
  [
    { ...pdf, size: 10 * mebibyte, sha256: "aa" },
    { ...pdf, upload: "1".repeat(8), contentType: "image/png", size: 20 * mebibyte, sha256: "bb" },
    { ...pdf, upload: "2".repeat(8), size: 10 * mebibyte + 1, sha256: "cc" },
  ].map((file) => [file.upload, file]),
);

const app = appOfEachTest({
  findUploads: async (ids, { id }) => (id === "3" ? [] : ids.flatMap((each) => uploads.get(each) ?? [])),
});
beforeEach(() => {
  app.peers.when("layouts", "createLayout", async ({ fields }) => ({
    layout: aLayout({ ...fields, background: fields?.background && "a".repeat(40) }),
  }));
  app.peers.when("layouts", "updateLayout", async ({ id }) => {
    if (id !== 7) throw noSuchLayout();
    return { layout: aLayout() };
  });
  app.peers.when("layouts", "getLayout", async ({ id }) => {
    if (id !== 7) throw noSuchLayout();
    return { layout: aLayout() };
  });
});

/** Every field, in the documented order. */
const shown =
  '{"id":7,"name":"Standard","default":true,' +
  '"layout":[{"type":"poweredby","left":1.0,"bottom":"007.50","size":20,"content":"dark"}],' +
  '"background":null,"item_assignments":[{"sales_channel":"web","item":11}]}';

const sentTo = (method: string) => app.peers.requestsOf(method) as { fields: object; updateMask: string[] }[];
const fieldsOf = async (body: unknown, headers: Record<string, string> = json) => {
  const { status } = await app.send("POST", layouts, { headers, body });
  expect(status).toBe(201);
  return sentTo("createLayout").at(-1)?.fields;
};

describe("layouts", () => {
  it("[L1.1, L1.2, A5.1] are shown with every field, in their order, and as they were sent", async () => {
    app.peers.when("layouts", "listLayouts", async () => ({ layouts: [aLayout(), aLayout()], count: 3, page: 1 }));
    const { status, text, headers } = await app.send("GET", `${layouts}?page_size=2`);
    expect([status, headers["content-type"]]).toEqual([200, "application/json; charset=utf-8"]);
    const next = `${publicBase}${layouts}?page=2&page_size=2`;
    expect(text).toBe(`{"count":3,"next":"${next}","previous":null,"results":[${shown},${shown}]}`);
    expect(app.peers.requestsOf("listLayouts")).toEqual([{ ...place, page: 1, pageSize: 2 }]);
    expect((await app.send("GET", `${layouts}7/`)).text).toBe(shown);
    expect((await app.send("GET", `${layouts}8/`)).status).toBe(404);
    expect((await app.send("GET", `${layouts}x/`)).status).toBe(404);
  });

  it("[L5.2] show the public address of their background", async () => {
    app.peers.when("layouts", "getLayout", async () => ({ layout: aLayout({ background: "f".repeat(40) }) }));
    expect((await app.send("GET", `${layouts}7/`)).json).toMatchObject({
      background: `${publicBase}/pub/bigevents/sampleconf/ticketlayouts/${"f".repeat(40)}.pdf`,
    });
  });
});

describe("[L1.2] what is sent", () => {
  it.each([
    '[{"type":"poweredby","size":1.0,"left":1e2,"bottom":0.10,"content":"dark"}]',
    '[ {"content":"white", "type":"poweredby","left":12345678901234567890,"bottom":-0.0 ,"size":"1.50"}\n]',
    '[{"type":"textarea","left":1,"bottom":1,"content":"other","text":"\\u00fc \\ud83d\\ude00 }],\\"","width":1,"fontsize":1,' +
      '"fontfamily":"Open Sans","bold":false,"italic":false,"align":"left","color":[0,0,0.50]}]',
    "[]",
    "[  ]",
  ])("is stored to the letter: %s", async (layout) => {
    const body = `{"name":"a","layout":[5],"layout" : ${layout} ,"default":false}`;
    expect(await fieldsOf(body)).toMatchObject({ elements: layout });
    const answer = await app.send("POST", layouts, { headers: json, body });
    expect(answer.text).toContain(`"layout":${layout},"background"`);
  });

  it("may come as a form", async () => {
    const body = new URLSearchParams({ name: "a", layout: "[ ]", default: "on" }).toString();
    expect(await fieldsOf(body, form)).toMatchObject({ name: "a", elements: "[ ]", isDefault: true });
    for (const layout of ["[", "{}", "[5]", "[".repeat(1000)]) {
      const wrong = new URLSearchParams({ name: "a", layout }).toString();
      expect(await app.send("POST", layouts, { headers: form, body: wrong })).toMatchObject({
        status: 400,
        json: { layout: [expect.stringMatching(/^This is no valid layout: /)] },
      });
    }
  });
});

describe("POST ticketlayouts/", () => {
  it("[L1.1, L4.5] creates a layout of what is sent, and ignores what no client sets", async () => {
    const body = { name: " VIP ", layout: [], id: 5, item_assignments: [{ item: 1 }], size: [1, 2] };
    expect(await fieldsOf(body)).toEqual({ name: "VIP", isDefault: false, elements: "[]", background: undefined });
  });

  it("[L1.5] needs a name and a layout", async () => {
    expect((await app.send("POST", layouts, { body: {} })).json).toEqual({
      name: ["This field is required."],
      layout: ["This field is required."],
    });
    for (const name of ["", "  ", null, "x".repeat(191)])
      expect((await app.send("POST", layouts, { body: { name, layout: [] } })).json).toEqual({
        name: [expect.any(String)],
      });
  });

  it("[L2.4, L3.5] says what is wrong with the elements under `layout`, before anything about the default", async () => {
    const body = { name: "a", default: true, layout: [{ type: "poweredby", left: 1, bottom: 1, content: "dark" }] };
    const { status, json: errors } = await app.send("POST", layouts, { body });
    expect([status, errors]).toEqual([
      400,
      {
        layout: ["This is no valid layout: Element 1, size: This field is required."],
      },
    ]);
    for (const layout of [null, {}, "[]", 5, true])
      expect((await app.send("POST", layouts, { body: { name: "a", layout } })).json).toEqual({
        layout: ["This is no valid layout: Expected array."],
      });
    expect(app.peers.calls).toEqual([]);
  });

  it("[L2.5] refuses 1000 elements, and says why", async () => {
    const element = { type: "poweredby", left: 1, bottom: 1, content: "dark", size: 1 };
    const layout = Array.from({ length: 1000 }, () => element);
    const { status, json: errors } = await app.send("POST", layouts, { body: { name: "a", layout } });
    expect([status, errors]).toEqual([400, { layout: [expect.stringMatching(/longer than 256 KiB|At most 500/)] }]);
    const most = await app.send("POST", layouts, { body: { name: "a", layout: layout.slice(0, 500) } });
    expect(most.status).toBe(201);
  });

  it("[L3.1] tells that there is another default", async () => {
    const message = "Another layout of this event is the default already.";
    app.peers.when("layouts", "createLayout", async () => {
      throw new Fault("invalid", "second_default", message, { fields: { non_field_errors: [message] } });
    });
    const body = { name: "a", layout: [], default: true };
    expect(await app.send("POST", layouts, { body })).toMatchObject({
      status: 400,
      json: { non_field_errors: [message] },
    });
  });
});

describe("a background", () => {
  const create = (background: unknown, key: string = keys.all) =>
    app.send("POST", layouts, { key, body: { name: "a", layout: [], background } });

  it("[L5.1] is an upload of the caller, or null", async () => {
    const { status, json: made } = await create(`file:${pdf.upload}`);
    expect([status, made]).toMatchObject([201, { background: expect.stringMatching(/\/pub\/.*a{40}\.pdf$/) }]);
    const { upload, contentType } = pdf;
    const sent = { upload, contentType, size: 10 * mebibyte, sha256: "aa" };
    expect(sentTo("createLayout").at(-1)?.fields).toMatchObject({ background: sent });
    await create(null);
    expect(sentTo("createLayout").at(-1)?.fields).toMatchObject({ background: undefined });
  });

  it.each([
    ["file:5d1c2c5e-0f39-4a4d-9f7a-6b6a2b1d7e10", "You have sent no file of this id within a day."],
    ["file:x", "You have sent no file of this id within a day."],
    ["file:", "You have sent no file of this id within a day."],
    ["", "You have sent no file of this id within a day."],
    [pdf.upload, "You have sent no file of this id within a day."],
    ["https://example.com/a.pdf", "You have sent no file of this id within a day."],
    [`file:${"1".repeat(8)}`, "This file is no PDF, as a background has to be."],
    [`file:${"2".repeat(8)}`, "A background has at most 10 MiB, and this file has more."],
  ])("[L5.4] is not %s", async (background, message) => {
    expect(await create(background)).toMatchObject({ status: 400, json: { background: [message] } });
    const patch = (id: number) => app.send("PATCH", `${layouts}${id}/`, { body: { background } });
    expect(await patch(7)).toMatchObject({ status: 400, json: { background: [message] } });
    expect(await patch(8)).toMatchObject({ status: 404 });
    expect(app.peers.requestsOf("createLayout")).toEqual([]);
  });
});

describe("changes of a layout", () => {
  it("[L5.6] keep the background whose address is sent, as it was read", async () => {
    const background = "f".repeat(40);
    app.peers.when("layouts", "getLayout", async () => ({ layout: aLayout({ background }) }));
    const read = (await app.send("GET", `${layouts}7/`)).json as { readonly background: string };
    expect((await app.send("PUT", `${layouts}7/`, { body: read })).status).toBe(200);
    expect((await app.send("PATCH", `${layouts}7/`, { body: { background: read.background } })).status).toBe(200);
    expect(sentTo("updateLayout").map(({ updateMask }) => updateMask)).toEqual([
      ["name", "is_default", "elements"],
      [],
    ]);
    const wrong = { ...read, name: "" };
    expect((await app.send("PUT", `${layouts}7/`, { body: wrong })).json).toEqual({ name: [expect.any(String)] });
    const another = { ...read, background: read.background.replace("ffff", "0000") };
    expect(await app.send("PUT", `${layouts}7/`, { body: another })).toMatchObject({
      status: 400,
      json: { background: ["You have sent no file of this id within a day."] },
    });
  });

  it("[L1.4, A4.20] PATCH changes what was sent", async () => {
    const { status, text } = await app.send("PATCH", `${layouts}7/`, { body: { layout: [], id: 9, background: null } });
    expect([status, text]).toEqual([200, shown]);
    await app.send("PATCH", `${layouts}7/`, { body: { name: "x", default: false, item_assignments: [] } });
    await app.send("PATCH", `${layouts}7/`, { body: {} });
    expect(sentTo("updateLayout").map(({ updateMask }) => updateMask)).toEqual([
      ["elements", "background"],
      ["name", "is_default"],
      [],
    ]);
  });

  it("[L1.5, A4.21] PUT resets what was left out, and needs name and layout", async () => {
    expect((await app.send("PUT", `${layouts}7/`, { body: { name: "x", layout: [] } })).status).toBe(200);
    expect(sentTo("updateLayout")).toEqual([
      {
        ...{ ...place, id: 7, updateMask: ["name", "is_default", "elements", "background"] },
        fields: { name: "x", elements: "[]", isDefault: false, background: undefined },
      },
    ]);
    expect((await app.send("PUT", `${layouts}7/`, { body: { default: true } })).json).toEqual({
      name: ["This field is required."],
      layout: ["This field is required."],
    });
  });

  it("[A1.15] a missing layout counts before a wrong body", async () => {
    for (const method of ["PUT", "PATCH"]) {
      for (const body of [{ layout: [5] }, "{", { default: "maybe" }]) {
        expect((await app.send(method, `${layouts}8/`, { headers: json, body })).status).toBe(404);
        expect((await app.send(method, `${layouts}7/`, { headers: json, body })).status).toBe(400);
      }
    }
    expect((await app.send("PUT", `${layouts}8/assignments/`, { headers: json, body: "{" })).status).toBe(404);
  });

  it("[L1.6, A4.29] DELETE is 204, and 404 for what is not there", async () => {
    app.peers.when("layouts", "deleteLayout", async ({ id }) => {
      if (id !== 7) throw noSuchLayout();
      return {};
    });
    expect(await app.send("DELETE", `${layouts}7/`)).toMatchObject({ status: 204, text: "" });
    expect((await app.send("DELETE", `${layouts}8/`)).status).toBe(404);
  });
});

describe("assignments", () => {
  const assigned = { id: 3, layout: 7, item: 11, salesChannel: "web" };

  it("[L4.3] are listed, and shown one by one", async () => {
    app.peers.when("layouts", "listAssignments", async () => ({ assignments: [assigned], count: 1, page: 1 }));
    app.peers.when("layouts", "getAssignment", async () => ({ assignment: assigned }));
    const row = { id: 3, layout: 7, item: 11, sales_channel: "web" };
    expect((await app.send("GET", items)).json).toEqual({ count: 1, next: null, previous: null, results: [row] });
    expect((await app.send("GET", `${items}3/`)).json).toEqual(row);
    for (const method of ["POST", "PUT", "PATCH", "DELETE"])
      expect((await app.send(method, items, { headers: json, body: {} })).status).toBe(405);
  });

  it("[L4.1] are put in place of the others", async () => {
    app.peers.when("layouts", "setAssignments", async () => ({ layout: aLayout() }));
    const body = [{ item: 11 }, { item: "12", sales_channel: "resellers" }];
    const { status, text } = await app.send("PUT", `${layouts}7/assignments/`, { body });
    expect([status, text]).toEqual([200, shown]);
    const assignments = [
      { item: 11, salesChannel: "web" },
      { item: 12, salesChannel: "resellers" },
    ];
    expect(app.peers.requestsOf("setAssignments")).toEqual([{ ...place, layout: 7, assignments }]);
  });

  it("[L4.2] are refused one by one", async () => {
    const wrong = await app.send("PUT", `${layouts}7/assignments/`, { body: [{ item: 1 }, {}, 5] });
    expect([wrong.status, wrong.json]).toEqual([
      400,
      [{}, { item: ["This field is required."] }, { non_field_errors: [expect.any(String)] }],
    ]);
    app.peers.when("layouts", "setAssignments", async () => {
      const fields = { "1.item": ['Invalid id "9": this event has no such item.'] };
      throw new Fault("invalid", "invalid_assignments", "1 of 2 assignments are not valid.", { fields });
    });
    const unknown = await app.send("PUT", `${layouts}7/assignments/`, { body: [{ item: 1 }, { item: 9 }] });
    expect(unknown.json).toEqual([{}, { item: ['Invalid id "9": this event has no such item.'] }]);
    const many = Array.from({ length: 1001 }, () => ({ item: 1 }));
    expect((await app.send("PUT", `${layouts}7/assignments/`, { body: many })).status).toBe(400);
  });
});

describe("[L1.8] who may use layouts", () => {
  const send = async (key: string) => {
    const answers = await Promise.all(
      (
        [
          ["GET", layouts],
          ["GET", `${layouts}7/`],
          ["GET", items],
          ["OPTIONS", layouts],
          ["POST", layouts],
          ["PUT", `${layouts}7/`],
          ["PATCH", `${layouts}7/`],
          ["PUT", `${layouts}7/assignments/`],
          ["DELETE", `${layouts}7/`],
        ] as const
      ).map(([method, path]) => app.send(method, path, { key, ...(method.startsWith("P") ? { body: "{" } : {}) })),
    );
    return answers.map(({ status }) => (status === 403 ? "no" : "yes"));
  };
  const readers = ["yes", "yes", "yes", "yes", "no", "no", "no", "no", "no"];

  it("is everyone with access to the event for reading, and those who may change settings for writing", async () => {
    app.peers.when("layouts", "listLayouts", async () => ({ layouts: [], count: 0, page: 1 }));
    app.peers.when("layouts", "listAssignments", async () => ({ assignments: [], count: 0, page: 1 }));
    app.peers.when("layouts", "deleteLayout", async () => ({}));
    for (const key of [keys.none, keys.reader, keys.gate, keys.voucherWriter, devices.full])
      expect(await send(key)).toEqual(readers);
    for (const key of [keys.settings, keys.all]) expect(await send(key)).toEqual(readers.map(() => "yes"));
    for (const key of [devices.scan, devices.kiosk, keys.otherEvent, keys.otherOrganizer])
      expect(await send(key)).toEqual(readers.map(() => "no"));
  });
});
