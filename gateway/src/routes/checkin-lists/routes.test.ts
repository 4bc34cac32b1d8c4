import { Fault } from "@tessera/kit/fault";
import { beforeEach, describe, expect, it } from "vitest";
import type { Route } from "../../http/route.ts";
import { aList } from "../../testing/fake-peers.ts";
import { appOfEachTest, inEvent, keys } from "../../testing/serve-app.ts";

const lists = `${inEvent}/checkinlists/`;
const noSuchList = () => new Fault("not_found", "list_not_found", "There is no such check-in list.");

const app = appOfEachTest();

describe("GET checkinlists/", () => {
  const answerWith = (count: number, page = 1) =>
    app.peers.when("checkinLists", "listCheckinLists", async () => ({
      lists: [aList({ rules: '{"and":[]}' })],
      count,
      page,
      isUnchanged: false,
    }));

  it("[A5.1, A5.8] shows a page of lists with every field", async () => {
    answerWith(1);
    const { status, json } = await app.send("GET", lists);
    expect(status).toBe(200);
    expect(json).toEqual({
      count: 1,
      next: null,
      previous: null,
      results: [
        {
          id: 7,
          name: "Main gate",
          all_products: true,
          limit_products: [],
          subevent: null,
          checkin_count: 3,
          position_count: 10,
          include_pending: false,
          allow_multiple_entries: false,
          allow_entry_after_exit: true,
          rules: { and: [] },
          exit_all_at: null,
          addon_match: false,
          ignore_in_statistics: false,
          consider_tickets_used: true,
          soft_limit: null,
          hard_limit: null,
          takes_from: [],
        },
      ],
    });
  });

  it("[A5.3, A6.1, A6.2, A7.1, A7.3, A7.8] passes the query on as the service reads it", async () => {
    answerWith(1);
    await app.send(
      "GET",
      `${lists}?ordering=-name,nonsense,id&ordering=datetime,-name&subevent=3&subevent=4&subevent_match=5&ends_after=2024-01-01T00:00:00+01:00&page_size=500&tag=&unknown=1`,
    );
    expect(app.peers.requestsOf("listCheckinLists")).toEqual([
      {
        organizer: "bigevents",
        event: "sampleconf",
        page: 1,
        pageSize: 50,
        ordering: ["-name"],
        subevent: 4,
        subeventMatch: 5,
        endsAfter: Date.UTC(2023, 11, 31, 23) * 1000,
        withCounts: true,
        knownAsOf: undefined,
      },
    ]);
  });

  it("[A11.1, A11.2, A11.5] tells when lists have changed last, and answers 304 where they have not since", async () => {
    const changedAt = Date.UTC(2026, 10, 21, 12) * 1000;
    app.peers.when("checkinLists", "listCheckinLists", async ({ knownAsOf }) =>
      knownAsOf === undefined
        ? { lists: [aList()], count: 1, page: 1, changedAt, isUnchanged: false }
        : { lists: [], count: 0, page: 0, changedAt, isUnchanged: true },
    );
    const first = await app.send("GET", lists);
    expect(first.headers["last-modified"]).toBe("Sat, 21 Nov 2026 12:00:00 GMT");
    const again = await app.send("GET", lists, { headers: { "if-modified-since": "Sat, 21 Nov 2026 12:00:00 GMT" } });
    expect([again.status, again.text, again.headers["last-modified"]]).toEqual([
      304,
      "",
      "Sat, 21 Nov 2026 12:00:00 GMT",
    ]);
    // A date format that an existing client sends after its filter has changed.
    const strange = await app.send("GET", lists, { headers: { "if-modified-since": "Sat Nov 21 12:00:00 UTC 2026" } });
    expect(strange.status).toBe(200);
    expect(app.peers.requestsOf("listCheckinLists")).toMatchObject([
      { knownAsOf: undefined },
      { knownAsOf: changedAt },
      { knownAsOf: undefined },
    ]);
  });

  it("[C1.25] keeps browsers from asking by themselves whether an older answer still holds", async () => {
    const { headers } = await app.send("GET", lists);
    expect(headers["cache-control"]).toBe("private, no-store");
  });

  it.each([
    ["Sat, 21 Nov 2026 11:59:59 GMT", 412],
    ["Sat, 21 Nov 2026 12:00:00 GMT", 200],
    ["Sat, 21 Nov 2026 12:00:01 GMT", 200],
    // A date format of an existing client, and nonsense.
    ["Sat Nov 21 11:00:00 UTC 2026", 200],
    ["2026-11-21T11:00:00Z", 200],
    ["yesterday", 200],
  ])("[C1.9] answers lists that changed at noon to If-Unmodified-Since %s with %i", async (date, expected) => {
    const changedAt = Date.UTC(2026, 10, 21, 12) * 1000;
    app.peers.when("checkinLists", "listCheckinLists", async ({ knownAsOf }) => ({
      lists: [],
      count: 0,
      page: 1,
      changedAt,
      isUnchanged: knownAsOf !== undefined,
    }));
    const answer = await app.send("GET", lists, { headers: { "if-unmodified-since": date } });
    expect(answer.status).toBe(expected);
    if (expected === 412) expect(answer.json).toEqual({ detail: expect.stringContaining("changed") });
    const headers = { "if-unmodified-since": date, "if-modified-since": "Sat, 21 Nov 2026 12:00:00 GMT" };
    expect((await app.send("GET", lists, { headers })).status).toBe(expected === 412 ? 412 : 304);
  });

  it("[C1.9] takes If-Unmodified-Since for nothing before the first change", async () => {
    answerWith(1);
    const headers = { "if-unmodified-since": "Thu, 01 Jan 1970 00:00:00 GMT" };
    expect((await app.send("GET", lists, { headers })).status).toBe(200);
  });

  it("[A7.2, A7.3, A5.10] counts the last of repeated parameters, also when it is empty", async () => {
    answerWith(1);
    await app.send("GET", `${lists}?page=9&page=&subevent=x&subevent=&exclude=name&exclude=`);
    expect(app.peers.requestsOf("listCheckinLists")).toMatchObject([{ page: 1, subevent: undefined }]);
  });

  it("[C1.6] shows the date of a list in full where it is asked for", async () => {
    const documents = {
      subevents: [{ id: 3, json: Buffer.from('{"id":3,"name":{"en":"Monday"},"date_from":"2027-01-01T00:00:00Z"}') }],
      items: [],
      questions: [],
    };
    const dated = [aList({ subevent: 3 }), aList({ subevent: 4 }, 8), aList({}, 9)];
    app.peers.when("checkinLists", "listCheckinLists", async ({ expand }) => ({
      lists: dated,
      count: 3,
      page: 1,
      isUnchanged: false,
      documents: expand?.subevent === true ? documents : undefined,
    }));
    app.peers.when("checkinLists", "getCheckinList", async ({ expand }) => ({
      list: dated[0],
      documents: expand?.subevent === true ? documents : undefined,
    }));
    const monday = { id: 3, event: "sampleconf", name: { en: "Monday" }, date_from: "2027-01-01T00:00:00Z" };
    const query = "expand=subevent&expand=nonsense&exclude=checkin_count&exclude=position_count";
    const { json } = await app.send("GET", `${lists}?${query}&ends_after=2027-01-01T00:00:00.000Z`);
    expect(json).toMatchObject({ results: [{ subevent: monday }, { subevent: 4 }, { subevent: null }] });
    expect(app.peers.requestsOf("listCheckinLists")).toMatchObject([{ withCounts: false }]);
    expect(await app.send("GET", lists)).toMatchObject({ json: { results: [{ subevent: 3 }, {}, {}] } });
    expect(await app.send("GET", `${lists}7/?expand=subevent`)).toMatchObject({ json: { subevent: monday } });
    expect(await app.send("GET", `${lists}7/`)).toMatchObject({ json: { subevent: 3 } });
  });

  it("[C1.7, C1.8] leaves out excluded fields, and counts nothing if both counts are left out", async () => {
    answerWith(1);
    const { json } = await app.send(
      "GET",
      `${lists}?exclude=checkin_count&exclude=position_count&exclude=rules&exclude=nonsense&exclude=limit_products.id`,
    );
    expect(app.peers.requestsOf("listCheckinLists")).toMatchObject([{ withCounts: false }]);
    const [result] = (json as { results: object[] }).results;
    expect(Object.keys(result ?? {})).not.toContain("checkin_count");
    expect(Object.keys(result ?? {})).not.toContain("rules");
    expect(Object.keys(result ?? {})).toContain("name");
    expect(Object.keys(result ?? {})).toContain("limit_products");
    await app.send("GET", `${lists}?exclude=checkin_count`);
    expect(app.peers.requestsOf("listCheckinLists")).toMatchObject([{}, { withCounts: true }]);
  });

  it("[A7.4, A7.5, A7.9] names every wrong filter", async () => {
    const { status, json } = await app.send("GET", `${lists}?subevent=x&subevent_match=y&ends_after=yesterday&page=0`);
    expect(status).toBe(400);
    expect(Object.keys(json as object).sort()).toEqual(["ends_after", "subevent", "subevent_match"]);
  });

  it("[A7.5] passes on what the service says of a filter", async () => {
    app.peers.when("checkinLists", "listCheckinLists", async () => {
      throw new Fault("invalid", "unknown_subevent", "no such date", {
        fields: { subevent: ["This is no id of this event."] },
      });
    });
    expect(await app.send("GET", `${lists}?subevent=99`)).toMatchObject({
      status: 400,
      json: { subevent: ["This is no id of this event."] },
    });
  });
});

describe("If-Modified-Since anywhere else", () => {
  it("[A11.7] has no effect", async () => {
    app.peers.when("checkinLists", "getCheckinList", async () => ({ list: aList() }));
    app.peers.when("checkinLists", "getCheckinListStatus", async () => ({
      eventName: "Conference",
      positionCount: 0,
      checkinCount: 0,
      insideCount: 0,
      items: [],
    }));
    app.peers.when("listedPositions", "listPositions", async () => ({ positions: [], count: 0, page: 1 }));
    for (const path of [`${lists}7/`, `${lists}7/status/`, `${lists}7/positions/`]) {
      const headers = { "if-modified-since": "Fri, 31 Dec 2100 23:59:59 GMT" };
      const { status, headers: answered } = await app.send("GET", path, { headers });
      expect([path, status, answered["last-modified"]]).toEqual([path, 200, undefined]);
    }
    const isData = ({ access }: Route) => access.kind !== "public";
    expect(
      app.routes.filter((route) => isData(route) && "notModified" in route.answers).map(({ name }) => name),
    ).toEqual([
      "listSubevents",
      "listCategories",
      "listItems",
      "listQuestions",
      "listQuotas",
      "listCheckinLists",
      // It compares what its query says.
      "selectEventOfDevice",
    ]);
  });
});

describe("GET checkinlists/{id}/", () => {
  it("[A9.1, A9.2] shows instants in UTC with microseconds where there are any", async () => {
    app.peers.when("checkinLists", "getCheckinList", async () => ({
      list: aList({ exitAllAt: 1_700_000_000_000_001, subevent: 3 }),
    }));
    expect(await app.send("GET", `${lists}7/`)).toMatchObject({
      status: 200,
      json: { exit_all_at: "2023-11-14T22:13:20.000001Z", subevent: 3 },
    });
  });

  it("[A4.8, A8.1] is 404 for a list that is not there", async () => {
    app.peers.when("checkinLists", "getCheckinList", async () => {
      throw noSuchList();
    });
    expect(await app.send("GET", `${lists}7/`)).toMatchObject({
      status: 404,
      json: { detail: "There is no such check-in list." },
    });
  });
});

describe("POST checkinlists/", () => {
  beforeEach(() => {
    app.peers.when("checkinLists", "createCheckinList", async ({ fields }) => ({ list: { ...aList(), fields } }));
  });

  it("[A4.19, A4.29, A9.18, A9.26, C1.15, C1.16] creates a list and fills in defaults", async () => {
    const { status, json } = await app.send("POST", lists, { body: { name: " Gate ", checkin_count: 5, unknown: 1 } });
    expect(status).toBe(201);
    expect(json).toMatchObject({
      name: "Gate",
      all_products: true,
      allow_entry_after_exit: true,
      rules: {},
      consider_tickets_used: true,
    });
  });

  it("takes all fields, rules as they are", async () => {
    const rules = { ">": [{ var: "now" }, { buildTime: ["date_from"] }], 10: "x", a: 1.5 };
    await app.send("POST", lists, {
      body: {
        name: "Gate",
        all_products: "false",
        limit_products: ["3", 4],
        subevent: "5",
        rules,
        exit_all_at: "2024-01-01T00:00:00.000001Z",
        addon_match: 1,
      },
    });
    const [request] = app.peers.requestsOf("createCheckinList") as [{ fields: { rules: string } }];
    expect(request).toMatchObject({
      organizer: "bigevents",
      event: "sampleconf",
      fields: {
        allProducts: false,
        limitProducts: [3, 4],
        subevent: 5,
        exitAllAt: 1_704_067_200_000_001,
        addonMatch: true,
      },
    });
    expect(JSON.parse(request.fields.rules)).toEqual(rules);
  });

  it("[A8.2, A9.21, A9.25] names every wrong field", async () => {
    const { status, json } = await app.send("POST", lists, {
      body: { all_products: "maybe", limit_products: "3", rules: null, exit_all_at: 5, include_pending: null },
    });
    expect(status).toBe(400);
    expect(Object.keys(json as object).sort()).toEqual([
      "all_products",
      "exit_all_at",
      "include_pending",
      "limit_products",
      "name",
      "rules",
    ]);
  });

  it("[A4.10, A4.16, A4.18] reads a form: a box that is missing was not ticked, a list is repeated", async () => {
    const { status } = await app.send("POST", lists, {
      headers: { "content-type": "application/x-www-form-urlencoded; charset=utf-8" },
      body: "name=T%C3%BCr&limit_products=3&limit_products=4&include_pending=on&rules=%7B%22and%22%3A%5B%5D%7D",
    });
    expect(status).toBe(201);
    expect(app.peers.requestsOf("createCheckinList")).toMatchObject([
      {
        fields: {
          name: "Tür",
          limitProducts: [3, 4],
          includePending: true,
          allProducts: false,
          allowEntryAfterExit: false,
          rules: '{"and":[]}',
        },
      },
    ]);
  });

  it("[A4.30] takes no JSON for a form, and says which header is missing", async () => {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    for (const body of ['{"name":"Gate"}', ' {"name":"a=b&c"}', '[{"name":"Gate"}]', "%7B%22name%22%3A1%7D"]) {
      const { status, json } = await app.send("POST", lists, { headers, body });
      expect([status, json], body).toEqual([
        400,
        { detail: expect.stringContaining("Content-Type: application/json") },
      ]);
    }
    expect(app.peers.requestsOf("createCheckinList")).toEqual([]);
    const { status } = await app.send("POST", lists, { headers, body: "name={Gate}" });
    expect(status).toBe(201);
  });

  it("[A4.10] reads a form in parts, and refuses a broken one", async () => {
    const parts = [
      ["name", "Tür 🚪"],
      ["limit_products", "3"],
      ["limit_products", "4"],
      ["include_pending", "on"],
    ];
    const body = `${parts.map(([name, value]) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`).join("")}--x--\r\n`;
    const headers = { "content-type": "multipart/form-data; boundary=x" };
    expect((await app.send("POST", lists, { headers, body })).status).toBe(201);
    expect(app.peers.requestsOf("createCheckinList")).toMatchObject([
      { fields: { name: "Tür 🚪", limitProducts: [3, 4], includePending: true, allProducts: false } },
    ]);
    for (const broken of [body.slice(0, -8), "--y--", "name=x", `${body.slice(0, 30)}\u0000`]) {
      expect(await app.send("POST", lists, { headers, body: broken })).toMatchObject({
        status: 400,
        json: { detail: expect.any(String) },
      });
    }
    const unbounded = { "content-type": "multipart/form-data" };
    expect((await app.send("POST", lists, { headers: unbounded, body })).status).toBe(400);
    const latin = Buffer.from(body.replace("Tür 🚪", "T\u00fcr"), "latin1");
    expect((await app.send("POST", lists, { headers, body: latin })).status).toBe(400);
    expect(app.peers.requestsOf("createCheckinList")).toHaveLength(1);
  });

  it.each(["__proto__", "constructor", "prototype"])("[S3.2] takes %s for a name as any other", async (name) => {
    const { status, json } = await app.send("POST", lists, {
      headers: { "content-type": "application/json" },
      body: `{"name":"x","${name}":{"include_pending":true}}`,
    });
    expect(status).toBe(201);
    expect(json).toMatchObject({ include_pending: false });
    expect(({} as Record<string, unknown>)["include_pending"]).toBeUndefined();
  });
});

describe("changing a list", () => {
  beforeEach(() => {
    app.peers.when("checkinLists", "updateCheckinList", async () => ({ list: aList() }));
    app.peers.when("checkinLists", "getCheckinList", async ({ id }) => {
      if (id !== 7) throw noSuchList();
      return { list: aList() };
    });
    app.peers.when("checkinLists", "deleteCheckinList", async ({ id }) => {
      if (id !== 7) throw noSuchList();
      return {};
    });
  });

  it("[A4.20, C1.17] PATCH sets what was sent", async () => {
    const { status } = await app.send("PATCH", `${lists}7/`, {
      body: { include_pending: true, subevent: null, id: 9 },
    });
    expect(status).toBe(200);
    expect(app.peers.requestsOf("updateCheckinList")).toMatchObject([
      { id: 7, updateMask: ["subevent", "include_pending"], fields: { includePending: true, subevent: undefined } },
    ]);
  });

  it("[A4.21, C1.16] PUT returns what was left out to its default", async () => {
    const { status } = await app.send("PUT", `${lists}7/`, { body: { name: "New" } });
    expect(status).toBe(200);
    const [request] = app.peers.requestsOf("updateCheckinList") as [{ updateMask: string[]; fields: object }];
    expect(request.updateMask).toHaveLength(15);
    expect(request.fields).toMatchObject({ name: "New", allProducts: true, considerTicketsUsed: true, rules: "{}" });
    expect(await app.send("PUT", `${lists}7/`, { body: {} })).toMatchObject({
      status: 400,
      json: { name: [expect.any(String)] },
    });
  });

  it("[A4.16] a form that leaves out a box clears it on PUT", async () => {
    await app.send("PUT", `${lists}7/`, {
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "name=x",
    });
    expect(app.peers.requestsOf("updateCheckinList")).toMatchObject([
      { fields: { allProducts: false, allowEntryAfterExit: false, considerTicketsUsed: false } },
    ]);
  });

  it("[A4.17] a form that leaves out a box keeps it on PATCH", async () => {
    await app.send("PATCH", `${lists}7/`, {
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "name=x",
    });
    expect(app.peers.requestsOf("updateCheckinList")).toMatchObject([{ updateMask: ["name"] }]);
  });

  it("[A1.15] a missing list counts before a wrong body", async () => {
    for (const body of [{ name: "" }, "{", { include_pending: "maybe" }]) {
      const headers = { "content-type": "application/json" };
      expect((await app.send("PATCH", `${lists}8/`, { headers, body })).status).toBe(404);
      expect((await app.send("PATCH", `${lists}x/`, { headers, body })).status).toBe(404);
      expect((await app.send("PATCH", `${lists}7/`, { headers, body })).status).toBe(400);
    }
    expect(
      (await app.send("PATCH", `${lists}8/`, { headers: { "content-type": "text/plain" }, body: "x" })).status,
    ).toBe(404);
    expect(
      (await app.send("PATCH", `${lists}7/`, { headers: { "content-type": "text/plain" }, body: "x" })).status,
    ).toBe(415);
  });

  it.each(["checkinlists", "checkinlist"])("[A4.29] DELETE works on %s/", async (resource) => {
    expect(await app.send("DELETE", `${inEvent}/${resource}/7/`)).toMatchObject({ status: 204, text: "" });
    expect((await app.send("DELETE", `${inEvent}/${resource}/8/`)).status).toBe(404);
  });

  it("[A8.6] says how long to wait when another change is under way", async () => {
    app.peers.when("checkinLists", "updateCheckinList", async () => {
      throw new Fault("conflict", "locked", "another change is under way");
    });
    const { status, headers } = await app.send("PATCH", `${lists}7/`, { body: { name: "x" } });
    expect([status, headers["retry-after"]]).toEqual([409, "5"]);
  });

  it("[A2.6] needs the right to change settings", async () => {
    expect((await app.send("PATCH", `${lists}7/`, { key: keys.reader, body: { name: "x" } })).status).toBe(403);
    expect((await app.send("PATCH", `${lists}7/`, { key: keys.settings, body: { name: "x" } })).status).toBe(200);
  });
});

describe("GET checkinlists/{id}/status/", () => {
  it("shows the numbers", async () => {
    const counts = { positionCount: 4, checkinCount: 2 };
    app.peers.when("checkinLists", "getCheckinListStatus", async () => ({
      eventName: "Conference",
      ...counts,
      insideCount: 1,
      items: [{ id: 1, name: "Ticket", admission: true, ...counts, variations: [{ id: 2, value: "VIP", ...counts }] }],
    }));
    const shown = { position_count: 4, checkin_count: 2 };
    expect(await app.send("GET", `${lists}7/status/`)).toMatchObject({
      status: 200,
      json: {
        ...shown,
        inside_count: 1,
        event: { name: "Conference" },
        items: [{ id: 1, name: "Ticket", admission: true, ...shown, variations: [{ id: 2, value: "VIP", ...shown }] }],
      },
    });
  });
});
