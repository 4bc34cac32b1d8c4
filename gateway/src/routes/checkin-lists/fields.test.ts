import { beforeEach, describe, expect, it } from "vitest";
import { aList } from "../../testing/fake-peers.ts";
import { appOfEachTest, inEvent } from "../../testing/serve-app.ts";

const lists = `${inEvent}/checkinlists/`;

const app = appOfEachTest();
beforeEach(() => {
  app.peers.when("checkinLists", "createCheckinList", async ({ fields }) => ({ list: { ...aList(), fields } }));
  app.peers.when("checkinLists", "updateCheckinList", async () => ({ list: aList() }));
  app.peers.when("checkinLists", "getCheckinList", async () => ({ list: aList() }));
});

describe("the fields of a list", () => {
  const booleans = [
    ...["all_products", "include_pending", "allow_multiple_entries", "allow_entry_after_exit"],
    ...["addon_match", "ignore_in_statistics", "consider_tickets_used"],
  ];
  /** What each field refuses. */
  const refused: Readonly<Record<string, readonly unknown[]>> = {
    name: [undefined, null, "", " ", true, "x".repeat(191)],
    ...Object.fromEntries(booleans.map((field) => [field, [null, "maybe"]])),
    limit_products: [null, "3", 3, {}, ["x"], [null], [1.5], [true]],
    subevent: ["x", true, 1.5, -1, [1]],
    exit_all_at: ["", "yesterday", 5, "2027-02-30T00:00:00Z"],
    rules: [null],
  };
  const most = Math.max(...Object.values(refused).map(({ length }) => length));
  const bodies = Array.from({ length: most }, (_, at): Record<string, unknown> => {
    const wrong = Object.entries(refused).flatMap(([field, values]) => (at in values ? [[field, values[at]]] : []));
    return { name: "Gate", ...Object.fromEntries(wrong) };
  });
  it.each(bodies)(
    "[C1.10, C1.11, C1.12, C1.13, C1.14] each field of %j is refused, on POST, PUT and PATCH",
    async (body) => {
      for (const [method, path] of [
        ["POST", lists],
        ["PUT", `${lists}7/`],
        ["PATCH", `${lists}7/`],
      ] as const) {
        const wrong = Object.keys(body).filter(
          (field) => body[field] !== "Gate" && (method !== "PATCH" || body[field] !== undefined),
        );
        const { status, json } = await app.send(method, path, { body });
        expect([method, status]).toEqual([method, 400]);
        expect(Object.keys(json as object).toSorted()).toEqual(wrong.toSorted());
      }
      expect(app.peers.requestsOf("createCheckinList")).toEqual([]);
    },
  );

  it.each([
    ["name", "🎫".repeat(190), { name: "🎫".repeat(190) }],
    ["limit_products", [], { limitProducts: [] }],
    ["subevent", null, { subevent: undefined }],
    ["exit_all_at", null, { exitAllAt: undefined }],
    ["exit_all_at", "1999-01-01T00:00:00+01:00", { exitAllAt: Date.UTC(1998, 11, 31, 23) * 1000 }],
    ["addon_match", true, { addonMatch: true, allProducts: true }],
    ["position_count", 7, { allProducts: true }],
    ["id", 7, { allProducts: true }],
  ])("[C1.10, C1.12, C1.13, C1.14, C1.15] takes for %s the value %j", async (field, value, fields) => {
    const { status, json } = await app.send("POST", lists, { body: { name: "Gate", [field]: value } });
    expect(status).toBe(201);
    expect(json).toMatchObject({ id: 7, position_count: 10 });
    expect(app.peers.requestsOf("createCheckinList")).toMatchObject([{ fields }]);
  });

  it("[C1.6] shows the date of what is written in full where it is asked for, which cannot be set then", async () => {
    const json = Buffer.from('{"id":3,"name":{"en":"Monday"},"date_from":"2027-01-01T00:00:00Z"}');
    const documents = { subevents: [{ id: 3, json }], items: [], questions: [] };
    const list = aList({ subevent: 3 });
    app.peers.when("checkinLists", "createCheckinList", async () => ({ list }));
    app.peers.when("checkinLists", "updateCheckinList", async () => ({ list }));
    app.peers.when("checkinLists", "getCheckinList", async ({ expand }) => ({
      list,
      documents: expand?.subevent === true ? documents : undefined,
    }));
    const body = { name: "Gate", subevent: 4 };
    for (const [method, path, status] of [
      ["POST", lists, 201],
      ["PUT", `${lists}7/`, 200],
      ["PATCH", `${lists}7/`, 200],
    ] as const) {
      expect(await app.send(method, `${path}?expand=subevent`, { body })).toMatchObject({
        status,
        json: { subevent: { id: 3, event: "sampleconf", name: { en: "Monday" } } },
      });
      expect(await app.send(method, path, { body })).toMatchObject({ status, json: { subevent: 3 } });
    }
    expect(app.peers.requestsOf("createCheckinList")).toMatchObject([
      { fields: { name: "Gate", subevent: undefined } },
      { fields: { name: "Gate", subevent: 4 } },
    ]);
    app.peers.when("checkinLists", "getCheckinList", () => Promise.reject(new Error("away")));
    expect(await app.send("POST", `${lists}?expand=subevent`, { body })).toMatchObject({
      status: 201,
      json: { subevent: 3 },
    });
    const masks = app.peers
      .requestsOf("updateCheckinList")
      .map((request) => (request as { updateMask: string[] }).updateMask);
    expect(masks.map((mask) => mask.includes("subevent"))).toEqual([false, true, false, true]);
  });
});
