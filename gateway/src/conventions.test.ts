import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { aList, aVoucher, type FakePeers } from "./testing/fake-peers.ts";
import { appOfEachTest, devices, inEvent, keys, publicBase } from "./testing/serve-app.ts";

/** A collection of an event. */
interface Collection {
  readonly path: string;
  readonly reader: string;
  readonly writer: string;
  /** Makes the service answer this many entities, and create and change what is requested. */
  prepare(peers: FakePeers, pages?: { readonly count: number; readonly page: number }): void;
  /** The call behind a page of the collection. */
  readonly call: string;
  /** The description that OPTIONS gives. */
  readonly described: object;
}

const collections: readonly (readonly [name: string, Collection])[] = [
  [
    "check-in lists",
    {
      path: `${inEvent}/checkinlists/`,
      reader: keys.reader,
      writer: keys.settings,
      call: "listCheckinLists",
      prepare(peers, { count, page } = { count: 1, page: 1 }) {
        peers.when("checkinLists", "listCheckinLists", async () => ({
          lists: [aList()],
          count,
          page,
          isUnchanged: false,
        }));
        peers.when("checkinLists", "getCheckinList", async () => ({ list: aList() }));
        peers.when("checkinLists", "createCheckinList", async ({ fields }) => ({ list: { ...aList(), fields } }));
      },
      described: {
        name: "Lists the check-in lists of an event",
        actions: {
          POST: {
            name: { type: "string", required: true, maxLength: 190 },
            subevent: { type: ["integer", "null"], required: false },
          },
        },
      },
    },
  ],
  [
    "vouchers",
    {
      path: `${inEvent}/vouchers/`,
      reader: keys.voucherReader,
      writer: keys.voucherWriter,
      call: "listVouchers",
      prepare(peers, { count, page } = { count: 1, page: 1 }) {
        peers.when("vouchers", "listVouchers", async () => ({ vouchers: [aVoucher()], count, page }));
        peers.when("vouchers", "getVoucher", async () => ({ voucher: aVoucher() }));
        peers.when("vouchers", "createVouchers", async ({ vouchers }) => ({
          vouchers: vouchers.map(({ fields }) => aVoucher(fields)),
        }));
      },
      described: {
        name: "Lists the vouchers of an event",
        actions: {
          POST: {
            code: { type: "string", required: false, maxLength: 255 },
            item: { type: ["integer", "null"], required: false },
          },
        },
      },
    },
  ],
];

/** What no collection decides by itself is proven on one of them. */
const one = collections.slice(0, 1);

/** An address that takes a JSON body. */
interface Target {
  readonly path: string;
  /** A body that contains this object. */
  wrap(object: string): string;
  /** The errors of this object in an answer. */
  unwrap(answer: unknown): unknown;
  /** Values of the wrong kind. */
  readonly shapeless: readonly string[];
  /** A text field of every object. */
  readonly text: string;
}

const ofObjects = { wrap: (object: string) => object, unwrap: (answer: unknown) => answer };
const noObjects = ["[]", '"x"', "7", "true"];

const targets: readonly (readonly [name: string, Target])[] = [
  ["POST checkinlists/", { ...ofObjects, path: `${inEvent}/checkinlists/`, shapeless: noObjects, text: "name" }],
  [
    "POST vouchers/batch_create/",
    {
      path: `${inEvent}/vouchers/batch_create/`,
      wrap: (object) => `[${object}]`,
      unwrap: (answer) => (Array.isArray(answer) ? answer[0] : answer),
      shapeless: ["{}", '"x"', "7", "true"],
      text: "code",
    },
  ],
];

const json = { "content-type": "application/json" };

const app = appOfEachTest({ maxBytes: 1024, maxMs: 300 });
beforeEach(() => {
  for (const [, { prepare }] of collections) prepare(app.peers);
});

describe.each(collections)("credentials for %s", (_name, { path, reader, writer }) => {
  const refusal = async (authorization: string) => {
    const headers = authorization === "" ? {} : { authorization };
    const answer = await app.send("GET", path, { key: null, headers });
    expect([answer.status, answer.headers["www-authenticate"], Object.keys(answer.json as object)]).toEqual([
      401,
      "Token",
      ["detail"],
    ]);
    return (answer.json as { detail: string }).detail;
  };

  it("[A1.4, A1.5, A1.6, A1.7] each way to fail has its text", async () => {
    const texts = await Promise.all(
      [
        "",
        "Bearer abc",
        "Token",
        "Device",
        `Token ${keys.all} x`,
        "Token unknown",
        `Token ${keys.inactive}`,
        `Device ${devices.revoked}`,
      ].map(refusal),
    );
    expect(texts[0]).toBe(texts[1]);
    for (const text of await Promise.all([keys.all, `Bearer ${keys.all}`, "Token"].map(refusal)))
      expect(text).toContain("`Authorization: Token <key>` or `Authorization: Device <key>`");
    expect(texts[2]).toBe(texts[3]);
    expect(texts.at(-1)).toBe("Device access has been revoked.");
    expect(new Set(texts).size).toBe(6);
  });

  it("[A1.1, A1.2, A1.3] a token counts under its own scheme only, in any letter case", async () => {
    const statusOf = async (authorization: string) =>
      (await app.send("GET", path, { key: null, headers: { authorization } })).status;
    expect(await statusOf(`tOkEn ${keys.all}`)).toBe(200);
    expect(await statusOf(`DEVICE ${devices.full}`)).toBe(200);
    await refusal(`Device ${keys.all}`);
    await refusal(`Token ${devices.full}`);
    await refusal(`Device ${keys.operator}`);
  });

  it("[A2.1, A2.2, S5.4] whatever is not allowed answers alike", async () => {
    const below = path.slice(inEvent.length);
    const answers = await Promise.all([
      app.send("GET", `/api/v1/organizers/nobody/events/sampleconf${below}`),
      app.send("GET", `/api/v1/organizers/bigevents/events/nothing${below}`),
      app.send("GET", `/api/v1/organizers/somebody/events/sampleconf${below}`, { key: keys.otherOrganizer }),
      app.send("GET", path, { key: keys.otherOrganizer }),
      app.send("GET", path, { key: keys.otherEvent }),
      app.send("GET", path, { key: keys.none }),
      app.send("GET", path, { key: keys.operator }),
      app.send("GET", path, { key: writer }),
      app.send("POST", path, { key: reader, body: {} }),
      app.send("POST", path, { key: devices.full, body: {} }),
      app.send("GET", `${path}7/`, { key: devices.scan }),
      app.send("POST", "/api/v1/import/", { key: keys.reader }),
      app.send("GET", `/api/v1/organizers/bigevents/events/samp%2Fleconf${below}`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 403));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(app.peers.calls).toEqual([]);
  });
});

describe.each(collections)("the order of checks of %s", (_name, { path }) => {
  it("[A1.11, A1.12, A1.13, A1.14, A1.15, A1.17, S2.4] 406 before 401 before 403 before 405 before 404 before 400", async () => {
    const broken = { headers: json, body: "{" };
    const unaccepted = { headers: { ...json, accept: "text/html" }, body: "{", key: "nobody" };
    expect((await app.send("POST", `${path}x/`, unaccepted)).status).toBe(406);
    expect((await app.send("POST", `${path}x/`, { ...broken, key: "nobody" })).status).toBe(401);
    expect((await app.send("POST", `${path}x/`, { ...broken, key: keys.none })).status).toBe(403);
    expect((await app.send("POST", `${path}x/`, broken)).status).toBe(405);
    expect((await app.send("PATCH", `${path}x/`, broken)).status).toBe(404);
    expect((await app.send("PATCH", `${path}7/`, broken)).status).toBe(400);
  });

  it("[A1.17] without the right every request is 403, whatever else is wrong with it", async () => {
    for (const each of [path, `${path}7/`, `${path}x/`]) {
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        expect((await app.send(method, each, { headers: json, body: "{", key: keys.none })).status).toBe(403);
      }
    }
    expect(app.peers.calls).toEqual([]);
  });
});

describe.each(collections)("methods of %s", (_name, { path, reader, writer, described }) => {
  it("[A4.6, A4.7] 405 names those that are allowed, as does every answer", async () => {
    const allow = "GET, POST, HEAD, OPTIONS";
    for (const method of ["PUT", "PATCH", "DELETE"]) {
      const refused = await app.send(method, path, method === "DELETE" ? {} : { body: {} });
      expect([refused.status, refused.headers.allow]).toEqual([405, allow]);
      expect(refused.json).toEqual({ detail: expect.any(String) });
    }
    expect((await app.send("GET", path)).headers.allow).toBe(allow);
    expect((await app.send("GET", path, { key: null })).headers.allow).toBe(allow);
    const one = await app.send("POST", `${path}7/`, { body: {} });
    expect([one.status, one.headers.allow?.split(", ").sort()]).toEqual([
      405,
      ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "PUT"],
    ]);
  });

  it("[A4.24, A2.15] OPTIONS describes an endpoint to callers that may read it", async () => {
    const { status, json: body } = await app.send("OPTIONS", path, { key: reader });
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({
        renders: ["application/json"],
        parses: ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"],
      }),
    ]);
    expect(body).toMatchObject(described);
    expect((await app.send("OPTIONS", `${path}7/`, { key: reader })).status).toBe(200);
    expect((await app.send("OPTIONS", path, { key: writer })).status).toBe(403);
    expect((await app.send("OPTIONS", path, { key: null })).status).toBe(401);
  });

  it("[A4.25] HEAD is answered like GET, without a body", async () => {
    for (const each of [path, `${path}7/`]) {
      const got = await app.send("GET", each);
      const headed = await app.send("HEAD", each);
      expect(headed).toMatchObject({ status: 200, text: "" });
      expect(headed.headers["content-length"]).toBe(got.headers["content-length"]);
    }
  });
});

describe.each(one)("addresses of %s", (_name, { path }) => {
  const bare = path.slice(0, -1);

  it.each(["GET", "HEAD", "DELETE", "OPTIONS"])("[A4.2] %s without the last slash is sent to it", async (method) => {
    for (const each of [bare, `${path}7`]) {
      const { status, headers } = await app.send(method, `${each}?ordering=name&x=a%2Fb`, { key: null });
      expect([status, headers.location]).toEqual([301, `/shop${each}/?ordering=name&x=a%2Fb`]);
    }
  });

  it.each(["POST", "PUT", "PATCH"])("[A4.3] %s without the last slash leads nowhere", async (method) => {
    for (const each of [bare, `${path}7`]) {
      const { status, headers } = await app.send(method, each, { body: {} });
      expect([status, headers["content-type"]]).toEqual([404, "text/html; charset=utf-8"]);
    }
  });

  it("[A4.8, A8.1] what is no id is 404", async () => {
    for (const id of ["x", "7x", "-1", "0", "9999999999999999", "%20", "1%2F2", "%D9%A7"]) {
      for (const method of ["GET", "DELETE"]) {
        expect(await app.send(method, `${path}${id}/`)).toMatchObject({
          status: 404,
          json: { detail: expect.any(String) },
        });
      }
    }
    expect(app.peers.calls).toEqual([]);
  });

  it("[A4.5] what lies below is 404 with a page of HTML", async () => {
    const { status, headers } = await app.send("GET", `${path}7/nothing/`);
    expect([status, headers["content-type"]]).toEqual([404, "text/html; charset=utf-8"]);
  });

  it("reads a query that is not percent-encoded well", async () => {
    expect((await app.send("GET", `${path}?x=%zz&y=%ff&%=&&=`)).status).toBe(200);
  });

  it("[A4.27] refuses a null character in the query", async () => {
    for (const query of ["search=a%00b", "page=%00", "a%00b=1"]) {
      expect(await app.send("GET", `${path}?${query}`)).toMatchObject({ status: 400 });
    }
    expect(app.peers.calls).toEqual([]);
  });
});

describe.each(one)("what is accepted of %s", (_name, { path }) => {
  it.each([
    undefined,
    "*/*",
    "application/*",
    "application/json, text/javascript",
    "text/html, */*;q=0.1",
    "Application/JSON; q=0.5",
  ])("Accept %s", async (accept) => {
    expect((await app.send("GET", path, { headers: accept === undefined ? {} : { accept } })).status).toBe(200);
  });

  it.each(["text/html", "application/xml", "application/json;q=0", "*/*, application/json;q=0"])(
    "[A4.22] Accept %s rules the answer out",
    async (accept) => {
      expect(await app.send("GET", path, { headers: { accept } })).toMatchObject({
        status: 406,
        json: { detail: expect.any(String) },
      });
    },
  );

  it("[A4.23, A1.11] format may say json", async () => {
    expect((await app.send("GET", `${path}?format=json`)).status).toBe(200);
    expect((await app.send("GET", `${path}?format=`)).status).toBe(200);
    expect((await app.send("GET", `${path}?format=api`, { key: null })).status).toBe(404);
  });
});

describe.each(one)("pages of %s", (_name, { path, prepare, call }) => {
  it("[A5.1, A5.5, A5.6, A5.7, A5.8, S8.5] are linked by the configured address, with the query as it came and ordered by name", async () => {
    prepare(app.peers, { count: 101, page: 2 });
    const query = "page=2&tag=&ordering=id&x=b&x=a&page_size=500";
    const { json: body } = await app.send("GET", `${path}?${query}`, { headers: { host: "evil.example" } });
    const base = `${publicBase}${path}?ordering=id`;
    expect(body).toMatchObject({
      count: 101,
      next: `${base}&page=3&page_size=500&tag=&x=b&x=a`,
      previous: `${base}&page_size=500&tag=&x=b&x=a`,
    });
  });

  it("[A5.8, A5.9] have a last one", async () => {
    prepare(app.peers, { count: 101, page: 3 });
    const { json: body } = await app.send("GET", `${path}?page=last`);
    expect(app.peers.requestsOf(call)).toMatchObject([{ page: 0, pageSize: 50 }]);
    expect(body).toMatchObject({ next: null, previous: `${publicBase}${path}?page=2` });
  });

  it.each([
    ["1", 1],
    ["50", 50],
    ["51", 50],
    ["0", 50],
    ["-1", 50],
    ["x", 50],
    ["2.5", 50],
    ["", 50],
    ["99999999999999999999", 50],
  ])("[A5.2, A5.3, A5.4] of page_size=%s have at most %i results", async (size, pageSize) => {
    expect((await app.send("GET", `${path}?page_size=${size}`)).status).toBe(200);
    expect(app.peers.requestsOf(call)).toMatchObject([{ page: 1, pageSize }]);
  });

  it.each(["0", "-1", "x", "1.5", "99999999999", "4294967297"])("[A5.11] have no %s", async (page) => {
    expect(await app.send("GET", `${path}?page=${page}`)).toMatchObject({
      status: 404,
      json: { detail: "Invalid page." },
    });
    expect(app.peers.calls).toEqual([]);
  });

  it("[A5.10, A5.11, A7.3] are the first where none is named, and none behind the last", async () => {
    for (const query of ["", "?page=", "?page=9&page="]) {
      expect((await app.send("GET", `${path}${query}`)).status).toBe(200);
    }
    expect(app.peers.requestsOf(call)).toMatchObject([{ page: 1 }, { page: 1 }, { page: 1 }]);
    prepare(app.peers, { count: 1, page: 2 });
    expect(await app.send("GET", `${path}?page=2`)).toMatchObject({ status: 404, json: { detail: "Invalid page." } });
  });
});

describe.each(targets)("the body of %s", (_name, { path, wrap, unwrap, shapeless, text }) => {
  const good = wrap(JSON.stringify({ [text]: "longer than five" }));
  const send = (body: string | Buffer, headers: Record<string, string> = json) =>
    app.send("POST", path, { headers, body });

  it.each(["text/plain", "application/merge-patch+json", "multipart/mixed; boundary=x", "", "application/jsonp"])(
    "[A4.11] is not read as %j",
    async (type) => {
      const answer = await send(good, type === "" ? {} : { "content-type": type });
      expect(answer).toMatchObject({ status: 415, json: { detail: expect.any(String) } });
    },
  );

  it.each(["application/json", "application/json; charset=utf-8", "APPLICATION/JSON"])(
    "[A4.9] is read as %s",
    async (type) => {
      expect((await send(good, { "content-type": type })).status).toBe(201);
    },
  );

  it("[A4.12] that is empty is an empty object, whatever it is called", async () => {
    const empty = await send("{}");
    for (const type of ["text/plain", "application/json"]) {
      const { status, json: body } = await send("", { "content-type": type });
      expect([status, body]).toEqual([empty.status, empty.json]);
    }
    expect((await app.send("POST", path)).status).toBe(empty.status);
  });

  it.each([
    ["malformed JSON", wrap('{"name": x}')],
    ["half of it", good.slice(0, -2)],
    ["invalid UTF-8", Buffer.from(good.replace("longer", "\u00ff"), "latin1")],
    ["NaN", wrap(`{"${text}": NaN}`)],
    ["deep nesting", wrap(`{"${text}":"longer","rules":${"[".repeat(100)}${"]".repeat(100)}}`)],
  ])("[A4.13] is 400 for %s", async (_what, body) => {
    const answer = await send(body);
    expect([answer.status, answer.json]).toEqual([400, { detail: expect.any(String) }]);
    expect(answer.text).not.toContain("NaN");
  });

  it("[A4.14, A4.15] is 400 where it is null or of another kind", async () => {
    for (const body of ["null", ...shapeless]) {
      const answer = await send(body);
      expect([body, answer.status, answer.json]).toEqual([body, 400, { non_field_errors: [expect.any(String)] }]);
    }
  });

  it.each(["a\\u0000bcde", "\\ud800bcde"])("[A9.23] has no text %s", async (written) => {
    const { status, json: body } = await send(wrap(`{"${text}":"${written}"}`));
    expect([status, unwrap(body)]).toEqual([400, { [text]: [expect.any(String)] }]);
  });

  it("[A1.16] that cannot be read never reaches the data", async () => {
    expect((await send(wrap(`{"${text}":"longer","subevent":"x"}`))).status).toBe(400);
    expect((await send("{")).status).toBe(400);
    expect(app.peers.calls).toEqual([]);
  });

  it("may begin with a byte order mark", async () => {
    expect((await send(`\ufeff${good}`)).status).toBe(201);
  });

  it("[S4.7] is not compressed", async () => {
    expect((await send(gzipSync(good), { ...json, "content-encoding": "gzip" })).status).toBe(415);
    expect((await send(good, { ...json, "content-encoding": "identity" })).status).toBe(201);
  });

  it("[A4.28, S4.2] is limited, announced or not", async () => {
    const large = wrap(`{"${text}":"${"x".repeat(2000)}"}`);
    expect(await send(large)).toMatchObject({ status: 413, json: { detail: expect.any(String) } });
    expect((await send(large, { ...json, "transfer-encoding": "chunked" })).status).toBe(413);
    expect((await send(wrap(`{"${text}":"longer","unknown":"${"x".repeat(900)}"}`))).status).toBe(201);
  });
});
