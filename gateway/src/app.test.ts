import { once } from "node:events";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { Fault } from "@tessera/kit/fault";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { at, declare } from "./http/route.ts";
import { aList } from "./testing/fake-peers.ts";
import { requireDocumented } from "./testing/require-documented.ts";
import { devices, inEvent, keys, publicBase, type ServedApp, serveApp } from "./testing/serve-app.ts";

const lists = `${inEvent}/checkinlists/`;
const json = { "content-type": "application/json" };

let app: ServedApp;
beforeEach(async () => {
  app = await serveApp({ maxBytes: 1024, maxMs: 300 });
  app.peers.when("checkinLists", "listCheckinLists", async () => ({
    lists: [],
    count: 0,
    page: 1,
    isUnchanged: false,
  }));
  app.peers.when("checkinLists", "getCheckinList", async () => ({ list: aList() }));
  app.peers.when("checkinLists", "createCheckinList", async ({ fields }) => ({ list: { ...aList(), fields } }));
});
afterEach(async () => {
  requireDocumented(app);
  await app.close();
});

describe("credentials", () => {
  const refusal = async (authorization: string) => {
    const {
      status,
      headers,
      json: body,
    } = await app.send("GET", lists, { key: null, ...(authorization === "" ? {} : { headers: { authorization } }) });
    expect([status, headers["www-authenticate"], Object.keys(body as object)]).toEqual([401, "Token", ["detail"]]);
    return (body as { detail: string }).detail;
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
    expect(texts[2]).toBe(texts[3]);
    expect(texts.at(-1)).toBe("Device access has been revoked.");
    expect(new Set(texts).size).toBe(6);
  });

  it("[A1.1, A1.2, A1.3] a token counts under its own scheme only, in any letter case", async () => {
    expect((await app.send("GET", lists, { key: null, headers: { authorization: `tOkEn ${keys.all}` } })).status).toBe(
      200,
    );
    expect(
      (await app.send("GET", lists, { key: null, headers: { authorization: `DEVICE ${devices.full}` } })).status,
    ).toBe(200);
    await refusal(`Device ${keys.all}`);
    await refusal(`Token ${devices.full}`);
    await refusal(`Device ${keys.operator}`);
  });

  it("[A2.1, A2.2, S5.4] whatever is not allowed answers alike", async () => {
    const answers = await Promise.all([
      app.send("GET", "/api/v1/organizers/nobody/events/sampleconf/checkinlists/"),
      app.send("GET", "/api/v1/organizers/bigevents/events/nothing/checkinlists/"),
      app.send("GET", "/api/v1/organizers/somebody/events/sampleconf/checkinlists/", { key: keys.otherOrganizer }),
      app.send("GET", lists, { key: keys.otherOrganizer }),
      app.send("GET", lists, { key: keys.otherEvent }),
      app.send("GET", lists, { key: keys.none }),
      app.send("GET", lists, { key: keys.operator }),
      app.send("POST", lists, { key: devices.full, body: {} }),
      app.send("GET", `${lists}7/`, { key: devices.scan }),
      app.send("POST", "/api/v1/import/"),
      app.send("GET", "/api/v1/organizers/bigevents/events/samp%2Fleconf/checkinlists/"),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 403));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(app.peers.calls).toEqual([]);
  });
});

describe("the order of checks", () => {
  it("[A1.11, A1.12, A1.13, A1.14, A1.15, A1.17, S2.4] 406 before 401 before 403 before 405 before 404 before 400", async () => {
    const wrong = { headers: { ...json, accept: "text/html" }, body: "{" };
    expect((await app.send("DELETE", `${lists}x/status/`, { ...wrong, key: "nobody" })).status).toBe(406);
    expect((await app.send("DELETE", `${lists}x/status/`, { headers: json, body: "{", key: "nobody" })).status).toBe(
      401,
    );
    expect((await app.send("DELETE", `${lists}x/status/`, { headers: json, body: "{", key: keys.none })).status).toBe(
      403,
    );
    expect((await app.send("DELETE", `${lists}x/status/`, { headers: json, body: "{" })).status).toBe(405);
    expect((await app.send("PATCH", `${lists}x/`, { headers: json, body: "{" })).status).toBe(404);
    expect((await app.send("PATCH", `${lists}7/`, { headers: json, body: "{" })).status).toBe(400);
  });

  it("[A1.17] without the right every request is 403, whatever else is wrong with it", async () => {
    for (const path of [lists, `${lists}7/`, `${lists}x/`, `${lists}x/status/`]) {
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
        expect((await app.send(method, path, { headers: json, body: "{", key: keys.none })).status).toBe(403);
      }
    }
    expect(app.peers.calls).toEqual([]);
  });

  it("[A1.16] a body that cannot be read never reaches the data", async () => {
    expect((await app.send("POST", lists, { body: { name: "x", subevent: "x" } })).status).toBe(400);
    expect((await app.send("POST", lists, { headers: json, body: "{" })).status).toBe(400);
    expect(app.peers.calls).toEqual([]);
  });

  it("[A4.5, S8.4] an unknown path is the same for every caller, and not JSON", async () => {
    for (const key of [null, keys.all, "nobody"]) {
      const { status, headers, text } = await app.send("GET", "/api/v1/nothing/", { key });
      expect([status, headers["content-type"]]).toEqual([404, "text/html; charset=utf-8"]);
      expect(text).toContain("<!doctype html>");
      expect(headers["content-security-policy"]).toContain("default-src 'none'");
    }
  });
});

describe("methods", () => {
  it("[A4.6, A4.7] 405 names those that are allowed, as does every answer", async () => {
    const refused = await app.send("PUT", lists, { body: {} });
    expect([refused.status, refused.headers.allow]).toEqual([405, "GET, POST, HEAD, OPTIONS"]);
    expect(refused.json).toEqual({ detail: expect.any(String) });
    expect((await app.send("GET", lists)).headers.allow).toBe("GET, POST, HEAD, OPTIONS");
    expect((await app.send("GET", lists, { key: null })).headers.allow).toBe("GET, POST, HEAD, OPTIONS");
    const singular = await app.send("GET", `${inEvent}/checkinlist/7/`);
    expect([singular.status, singular.headers.allow]).toEqual([405, "DELETE, OPTIONS"]);
  });

  it("[A4.24, A2.15] OPTIONS describes an endpoint to callers that may read it", async () => {
    const { status, json: body } = await app.send("OPTIONS", lists, { key: keys.reader });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: "Lists the check-in lists of an event",
      renders: ["application/json"],
      parses: ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"],
      actions: {
        POST: {
          name: { type: "string", required: true, maxLength: 190 },
          subevent: { type: ["integer", "null"], required: false },
        },
      },
    });
    expect((await app.send("OPTIONS", lists, { key: keys.settings })).status).toBe(403);
    expect((await app.send("OPTIONS", lists, { key: null })).status).toBe(401);
  });
});

describe("paths", () => {
  it.each(["GET", "HEAD", "DELETE", "OPTIONS"])("[A4.2] %s without the last slash is sent to it", async (method) => {
    const { status, headers } = await app.send(method, `${inEvent}/checkinlists?ordering=name&x=a%2Fb`, { key: null });
    expect([status, headers.location]).toEqual([301, `/shop${lists}?ordering=name&x=a%2Fb`]);
  });

  it.each(["POST", "PUT", "PATCH"])("[A4.3] %s without the last slash leads nowhere", async (method) => {
    const { status, headers } = await app.send(method, `${inEvent}/checkinlists`, { body: {} });
    expect([status, headers["content-type"]]).toEqual([404, "text/html; charset=utf-8"]);
  });

  it.each([
    "//evil.example",
    "//evil.example/api/v1/import",
    "/api/v1",
    "/API/V1/import/",
    "/api/v1/import//",
    "/api/v1//import/",
  ])("%s leads nowhere", async (path) => {
    const { status, headers } = await app.send("GET", path, { key: null });
    expect([status, headers.location]).toEqual([404, undefined]);
  });

  it.each(["%", "%zz", "%ff", "%c3", "%00", "a%2", "%u0041"])(
    "%s in a path is refused, never an error",
    async (part) => {
      for (const path of [`${lists}${part}/`, `/api/v1/organizers/${part}/events/x/checkinlists/`, `/${part}`]) {
        const { status, json: body } = await app.send("GET", path);
        expect([status, body]).toMatchObject([400, { detail: expect.any(String) }]);
      }
      expect((await app.send("POST", `${lists}7/positions/${part}/redeem/`, { body: {} })).status).toBe(400);
    },
  );

  it("[A4.1] those of organizers and events end with a slash", () => {
    const tenants = app.routes.map(({ path }) => path).filter((path) => path.startsWith("/api/v1/organizers/"));
    expect(tenants).toContain("/api/v1/organizers/{organizer}/events/{event}/checkinlists/");
    expect(tenants.filter((path) => !path.endsWith("/"))).toEqual([]);
  });

  it.each([
    ["POST", "/api/v1/upload"],
    ["GET", "/api/v1/idempotency_query"],
  ])("[A4.4] %s %s has no slash at its end", async (method, path) => {
    expect((await app.send(method, path, { key: null })).status).toBe(401);
    const slashed = await app.send(method, `${path}/`);
    expect([slashed.status, slashed.headers.location]).toEqual([404, undefined]);
  });

  it("reads a query that is not percent-encoded well", async () => {
    expect((await app.send("GET", `${lists}?x=%zz&y=%ff&%=&&=`)).status).toBe(200);
  });
});

describe("what is accepted", () => {
  it.each([
    undefined,
    "*/*",
    "application/*",
    "application/json, text/javascript",
    "text/html, */*;q=0.1",
    "Application/JSON; q=0.5",
  ])("Accept %s", async (accept) => {
    expect((await app.send("GET", lists, { headers: accept === undefined ? {} : { accept } })).status).toBe(200);
  });

  it.each(["text/html", "application/xml", "application/json;q=0", "*/*, application/json;q=0"])(
    "[A4.22] Accept %s rules the answer out",
    async (accept) => {
      expect(await app.send("GET", lists, { headers: { accept } })).toMatchObject({
        status: 406,
        json: { detail: expect.any(String) },
      });
    },
  );

  it("[A4.23, A1.11] format may say json", async () => {
    expect((await app.send("GET", `${lists}?format=json`)).status).toBe(200);
    expect((await app.send("GET", `${lists}?format=`)).status).toBe(200);
    expect((await app.send("GET", `${lists}?format=api`, { key: null })).status).toBe(404);
  });
});

describe("bodies", () => {
  const create = (body: string | Buffer, headers: Record<string, string> = json) =>
    app.send("POST", lists, { headers, body });

  it.each(["text/plain", "application/merge-patch+json", "multipart/mixed; boundary=x", "", "application/jsonp"])(
    "[A4.11] %j is not read",
    async (type) => {
      const answer = await create("{}", type === "" ? {} : { "content-type": type });
      expect(answer).toMatchObject({ status: 415, json: { detail: expect.any(String) } });
    },
  );

  it.each(["application/json", "application/json; charset=utf-8", "APPLICATION/JSON"])(
    "[A4.9] %s is read",
    async (type) => {
      expect((await create('{"name":"x"}', { "content-type": type })).status).toBe(201);
    },
  );

  it("[A4.12] an empty body is an empty object, whatever it is called", async () => {
    for (const type of ["text/plain", "application/json"]) {
      expect(await create("", { "content-type": type })).toMatchObject({
        status: 400,
        json: { name: [expect.any(String)] },
      });
    }
    expect((await app.send("POST", lists)).status).toBe(400);
  });

  it.each([
    ["malformed JSON", '{"name": x}', "detail"],
    ["half an object", '{"name"', "detail"],
    ["invalid UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), "detail"],
    ["NaN", '{"name": NaN}', "detail"],
    ["null", "null", "non_field_errors"],
    ["an array", "[]", "non_field_errors"],
    ["a text", '"x"', "non_field_errors"],
    ["deep nesting", `{"name":"x","rules":${"[".repeat(100)}${"]".repeat(100)}}`, "detail"],
    ["a null character", '{"name":"a\\u0000b"}', "name"],
    ["half a pair", '{"name":"\\ud800"}', "name"],
  ])("[A4.13, A4.14, A4.15, A9.23] %s is 400", async (_name, body, field) => {
    const answer = await create(body);
    expect([answer.status, Object.keys(answer.json as object)]).toEqual([400, [field]]);
    expect(answer.text).not.toContain("NaN");
  });

  it("a byte order mark is no part of a body", async () => {
    expect((await create('\ufeff{"name":"x"}')).status).toBe(201);
  });

  it("[S4.7] compressed bodies are read nowhere but in imports", async () => {
    expect((await create(gzipSync('{"name":"x"}'), { ...json, "content-encoding": "gzip" })).status).toBe(415);
    expect((await create('{"name":"x"}', { ...json, "content-encoding": "identity" })).status).toBe(201);
  });

  it("[A4.28, S4.2] is limited, announced or not", async () => {
    const large = `{"name":"${"x".repeat(2000)}"}`;
    expect(await create(large)).toMatchObject({ status: 413, json: { detail: expect.any(String) } });
    expect((await create(large, { ...json, "transfer-encoding": "chunked" })).status).toBe(413);
    expect((await create(`{"name":"x","unknown":"${"x".repeat(900)}"}`)).status).toBe(201);
  });

  it("a client reads the refusal of a body much larger than allowed", async () => {
    expect((await create(`{"name":"${"x".repeat(3_000_000)}"}`)).status).toBe(413);
    expect((await app.send("POST", lists, { headers: json, body: "x".repeat(3_000_000), key: "nobody" })).status).toBe(
      401,
    );
  });

  it("[S4.2] must arrive in time", async () => {
    const socket = connect(app.port, "127.0.0.1");
    socket.write(
      `POST ${lists} HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${keys.all}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name"`,
    );
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer.toString()).toMatch(/^Connection: close/im);
    await once(socket, "close");
  });
});

describe("problems", () => {
  const failing = (error: unknown) =>
    app.peers.when("checkinLists", "getCheckinList", async () => {
      throw error;
    });

  it.each([
    [new Fault("conflict", "locked", "busy", { retryAfterMs: 1200 }), 409, "2"],
    [new Fault("exhausted", "busy", "too much"), 429, "1"],
    [new Fault("unavailable", "peer_unavailable", "away"), 503, "1"],
    [new Fault("timeout", "deadline_exceeded", "late"), 503, "1"],
    [new Fault("unmet", "unmet", "not now"), 409, "5"],
  ])("[A8.1, A8.6] %s", async (fault, status, retryAfter) => {
    failing(fault);
    const answer = await app.send("GET", `${lists}7/`);
    expect([answer.status, answer.headers["retry-after"], answer.json]).toEqual([
      status,
      retryAfter,
      { detail: fault.message },
    ]);
    // Reading one list never ends like this; the test is about the map, not about that route.
    app.seen.length = 0;
  });

  it("[A8.7, S8.3] a bug says nothing of itself, but the log does", async () => {
    failing(new TypeError("the password is hunter2"));
    const { status, text } = await app.send("GET", `${lists}7/`);
    expect(status).toBe(500);
    expect(text).not.toContain("hunter2");
    expect(app.logged.filter(({ level }) => level === "error")).toHaveLength(1);
  });
});

describe("every answer", () => {
  it("[A4.26] has its headers", async () => {
    for (const path of [lists, "/api/v1/nothing/", "/docs"]) {
      const { headers } = await app.send("GET", path);
      expect(headers).toMatchObject({
        "x-content-type-options": "nosniff",
        "content-language": "en",
        "x-request-id": expect.any(String),
      });
      expect(headers["access-control-allow-origin"]).toBeUndefined();
      expect(headers.vary).toContain("Accept-Language");
    }
  });

  it("[S8.1, S8.2] may be read by its own origin alone, and as what it is, errors too", async () => {
    app.peers.when("checkinLists", "getCheckinList", async () => {
      throw new TypeError("a bug");
    });
    const preflight = { "access-control-request-method": "POST", "access-control-request-headers": "authorization" };
    const answers = await Promise.all(
      (
        [
          [200, "GET", lists, {}],
          [200, "GET", "/api/v1/openapi.json", { key: null }],
          [200, "OPTIONS", lists, { headers: preflight }],
          [401, "OPTIONS", lists, { key: null, headers: preflight }],
          [301, "GET", lists.slice(0, -1), { key: null }],
          [400, "POST", lists, { headers: json, body: "{" }],
          [401, "GET", lists, { key: null }],
          [403, "GET", lists, { key: keys.none }],
          [404, "GET", "/api/v1/nothing/", {}],
          [404, "GET", `${lists}x/`, {}],
          [405, "DELETE", lists, {}],
          [406, "GET", lists, { headers: { accept: "text/html" } }],
          [413, "POST", lists, { headers: json, body: "x".repeat(2000) }],
          [415, "POST", lists, { headers: { "content-type": "text/plain" }, body: "x" }],
          [500, "GET", `${lists}7/`, {}],
        ] as const
      ).map(async ([status, method, path, options]) => {
        const headers = { origin: "https://elsewhere.example", ...("headers" in options ? options.headers : {}) };
        const answer = await app.send(method, path, { ...options, headers });
        return { expected: `${status} ${method} ${path}`, seen: `${answer.status} ${method} ${path}`, answer };
      }),
    );
    expect(answers.map(({ seen }) => seen)).toEqual(answers.map(({ expected }) => expected));
    for (const { seen, answer } of answers) {
      const opening = Object.keys(answer.headers).filter((name) => name.startsWith("access-control-"));
      expect([seen, answer.headers["x-content-type-options"], opening]).toEqual([seen, "nosniff", []]);
    }
  });

  it("[S8.7] carries the id of its request, unless that could harm a log", async () => {
    expect((await app.send("GET", lists, { headers: { "x-request-id": "abc-12345" } })).headers["x-request-id"]).toBe(
      "abc-12345",
    );
    expect((await app.send("GET", lists, { headers: { "x-request-id": "a b\tc" } })).headers["x-request-id"]).toMatch(
      /^[0-9a-f-]{36}$/,
    );
  });

  it("[S8.7] is logged in one line, without the address and without the token", async () => {
    await app.send("GET", `${lists}secret-of-a-ticket/?search=Somebody`);
    const [line, ...others] = app.logged.filter(({ message }) => message === "request");
    expect(others).toEqual([]);
    expect(line).toMatchObject({
      method: "GET",
      route: "/api/v1/organizers/{organizer}/events/{event}/checkinlists/{id}/",
      status: 404,
      ms: expect.any(Number),
      caller: expect.stringMatching(/^api_key:[0-9a-f]{8}$/),
      requestId: expect.any(String),
    });
    expect(JSON.stringify(app.logged)).not.toMatch(/secret-of-a-ticket|Somebody|key-with/);
  });
});

describe("the document", () => {
  it("is public, and links to the deployment", async () => {
    const { status, json: document } = await app.send("GET", "/api/v1/openapi.json", { key: null });
    expect(status).toBe(200);
    expect(document).toMatchObject({ openapi: "3.1.0", servers: [{ url: publicBase }], info: { version: "1.2.3" } });
  });

  it("[S8.4] is shown by a page that fetches nothing from elsewhere", async () => {
    const page = await app.send("GET", "/docs", { key: null, headers: { accept: "text/html" } });
    expect(page.status).toBe(200);
    expect(page.headers["content-security-policy"]).not.toMatch(/https?:|unsafe-eval|script-src[^;]*unsafe-inline/);
    expect(page.text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
    expect(page.text).not.toMatch(/<script>/);
    for (const file of ["start.js", "standalone.js"]) {
      const script = await app.send("GET", `/docs/${file}`, { key: null });
      expect([script.status, script.headers["content-type"]]).toEqual([200, "text/javascript; charset=utf-8"]);
    }
    const zipped = await app.send("GET", "/docs/standalone.js", {
      key: null,
      headers: { "accept-encoding": "gzip, br" },
    });
    expect(zipped.headers["content-encoding"]).toBe("gzip");
    expect((await app.send("GET", "/docs/other.js", { key: null })).status).toBe(404);
  });
});

describe("stopping", () => {
  it("lets a request end, has its connection closed, and takes no other", async () => {
    let goOn = () => {};
    app.peers.when("checkinLists", "getCheckinList", async () => {
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      return { list: aList() };
    });
    const answer = app.send("GET", `${lists}7/`, { headers: { connection: "keep-alive" } });
    await expect.poll(() => app.peers.calls.length).toBe(1);
    const closed = app.close();
    await expect(app.send("GET", lists)).rejects.toThrow("ECONNREFUSED");
    goOn();
    expect((await answer).headers.connection).toBe("close");
    expect((await answer).status).toBe(200);
    await closed;
  });
});

describe("a slow header", () => {
  it("[S4.3] larger than allowed is refused", async () => {
    const { status } = await app.send("GET", lists, { headers: { "x-large": "x".repeat(20_000) } });
    expect(status).toBe(431);
  });
});

describe("a request that others may read in another way", () => {
  const head = `Host: x\r\nAuthorization: Token ${keys.all}\r\n`;

  it.each([
    ["two credentials", `GET ${lists} HTTP/1.1\r\n${head}Authorization: Token ${keys.none}\r\n\r\n`],
    ["the same credentials twice", `GET ${lists} HTTP/1.1\r\n${head}authorization: Token ${keys.all}\r\n\r\n`],
    ["two hosts", `GET ${lists} HTTP/1.1\r\n${head}HOST: y\r\n\r\n`],
    ["no host", `GET ${lists} HTTP/1.1\r\nAuthorization: Token ${keys.all}\r\n\r\n`],
    [
      "a compressed transfer",
      `POST ${lists} HTTP/1.1\r\n${head}Content-Type: application/json\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    ],
    ["no version", `GET ${lists}\r\n${head}\r\n`],
  ])("[S8.8] is 400, for it has %s", async (_name, sent) => {
    const socket = connect(app.port, "127.0.0.1");
    socket.write(sent);
    const pieces: Buffer[] = [];
    socket.on("data", (piece: Buffer) => pieces.push(piece));
    await once(socket, "close");
    const answer = Buffer.concat(pieces).toString();
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/^X-Content-Type-Options: nosniff\r$/im);
    expect(app.peers.calls).toEqual([]);
  });

  it.each(["Token\u00a0", "\u00a0Token ", "Token \u00a0"])("[A1.6] %j names no credentials", async (start) => {
    const { status } = await app.send("GET", lists, { key: null, headers: { authorization: start + keys.all } });
    expect(status).toBe(401);
  });
});

describe("the measured time of requests", () => {
  it("[S4.21] has few series, whatever clients send", async () => {
    const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "MKCOL", "LOCK"];
    const paths = [...new Set(app.routes.map(({ path }) => path.replaceAll(/\{\w+\+?\}/g, "1")))];
    for (const path of [...paths, "/nothing"]) {
      for (const key of [keys.all, keys.none, null]) {
        await Promise.all(methods.map((method) => app.send(method, path, { key })));
      }
    }
    app.seen.length = 0;
    const lines = (await app.metrics.exposition())
      .split("\n")
      .filter((line) => line.startsWith("tessera_http_request"));
    const named = new Set(lines.map((line) => /method="(\w+)"/.exec(line)?.[1]));
    expect([...named].sort()).toEqual(["DELETE", "GET", "PATCH", "POST", "PUT", "none"]);
    const series = new Set(lines.map((line) => line.replace(/^\w+|,?le="[^"]+"/g, "").replace(/ \S+$/, "")));
    expect(series.size).toBeLessThan(6 * app.routes.length);
    expect(lines.length).toBeLessThan(10 * series.size + 1);
  });
});

describe("a handler", () => {
  it("notices that its client has disconnected", async () => {
    let aborted = false;
    const watching = await serveApp({
      routes: (routes) => [
        ...routes,
        at(
          "GET",
          "/api/v1/watch/",
          declare({
            name: "watch",
            summary: "Waits",
            access: { kind: "public" },
            answers: { 200: { description: "Never." } },
            handle: async ({ signal }) => {
              await once(signal, "abort");
              aborted = true;
              throw new Error("the client has disconnected");
            },
          }),
        ),
      ],
    });
    const socket = connect(watching.port, "127.0.0.1");
    socket.write("GET /api/v1/watch/ HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(socket, "connect");
    setTimeout(() => socket.destroy(), 100);
    await expect.poll(() => aborted).toBe(true);
    await expect
      .poll(() => watching.logged.filter(({ message }) => message === "request"))
      .toMatchObject([{ status: 499 }]);
    expect(watching.logged.filter(({ level }) => level === "error")).toEqual([]);
    await watching.close();
  });
});
