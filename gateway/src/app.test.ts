import { once } from "node:events";
import { connect } from "node:net";
import { Fault } from "@tessera/kit/fault";
import { recordSpans } from "@tessera/testkit/record-spans";
import { beforeEach, describe, expect, it } from "vitest";
import { at, declare } from "./http/route.ts";
import { aList } from "./testing/fake-peers.ts";
import { appOfEachTest, inEvent, keys, publicBase, serveApp } from "./testing/serve-app.ts";

const lists = `${inEvent}/checkinlists/`;
const json = { "content-type": "application/json" };

const app = appOfEachTest({ maxBytes: 1024, maxMs: 300 });
beforeEach(() => {
  app.peers.when("checkinLists", "listCheckinLists", async () => ({
    lists: [],
    count: 0,
    page: 1,
    isUnchanged: false,
  }));
  app.peers.when("checkinLists", "getCheckinList", async () => ({ list: aList() }));
  app.peers.when("checkinLists", "createCheckinList", async ({ fields }) => ({ list: { ...aList(), fields } }));
});

describe("the order of checks", () => {
  it("[A1.13, A1.14, A1.17] without the right every request below a list is 403, and its method counts before it", async () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const path = `${lists}x/status/`;
      expect((await app.send(method, path, { headers: json, body: "{", key: keys.none })).status).toBe(403);
      expect((await app.send(method, path, { headers: json, body: "{" })).status).toBe(405);
    }
    expect(app.peers.calls).toEqual([]);
  });

  it("[A4.5] an unknown path is JSON for programs that ask for it, and for no scanner", async () => {
    const answered = async (accept: string) => {
      const { status, headers, text } = await app.send("GET", `${lists}7/nothing/`, { headers: { accept } });
      expect(status).toBe(404);
      return headers["content-type"]?.startsWith("text/html")
        ? "a page"
        : (JSON.parse(text) as { detail: string }).detail;
    };
    for (const accept of ["application/json", "Application/JSON; q=0.5", "application/json, text/plain, */*"])
      expect(await answered(accept), accept).toContain("/shop/docs lists all");
    for (const accept of ["*/*", "text/html, application/json", "application/*"])
      expect(await answered(accept), accept).toBe("a page");
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
  it("[A4.7] of the singular address are its own", async () => {
    const singular = await app.send("GET", `${inEvent}/checkinlist/7/`);
    expect([singular.status, singular.headers.allow]).toEqual([405, "DELETE, OPTIONS"]);
  });
});

describe("paths", () => {
  it("[A4.31] near the documentation lead a browser to it", async () => {
    const sentTo = async (path: string, accept?: string) => {
      const headers = accept === undefined ? {} : { accept };
      const { status, headers: answered } = await app.send("GET", path, { key: null, headers });
      return [status, answered.location];
    };
    expect(await sentTo("/docs/")).toEqual([301, "/shop/docs"]);
    for (const path of ["/api", "/api/", "/api/v1", "/api/v1/"]) {
      expect(await sentTo(path, "text/html,application/xhtml+xml,*/*;q=0.8"), path).toEqual([302, "/shop/docs"]);
      for (const accept of [undefined, "application/json"])
        expect(await sentTo(path, accept), path).toEqual([404, undefined]);
    }
    expect((await app.send("POST", "/docs/", { key: null, body: {} })).status).toBe(404);
    const { text } = await app.send("GET", "/api/v1/nothing/", { key: null });
    expect(text).toContain('<a href="/shop/docs">');
  });

  it.each([
    "*",
    "//evil.example",
    "//evil.example/api/v1/import",
    "/api/v1",
    "/API/V1/import/",
    "/api/v1/import//",
    "/api/v1//import/",
    "/api/v1/organizers//events/",
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
});

describe("bodies", () => {
  const create = (body: string) => app.send("POST", lists, { headers: json, body });

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
    // Reading one list never fails like this; the test is about the map of statuses, not about the route.
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

  it("[S8.7] is logged in one line when it was refused, without the address and without the token", async () => {
    await app.send("GET", `${lists}?search=Somebody`);
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

describe("a head larger than allowed", () => {
  const large = "x".repeat(20_000);

  it.each([
    ["a header", lists, { "x-large": large }],
    ["the address", `${lists}${large}/`, {}],
    ["a search", `${lists}7/positions/?search=${large}`, {}],
  ])("[S4.3] is refused: %s", async (_name, path, headers) => {
    expect((await app.send("GET", path, { headers })).status).toBe(431);
    expect(app.peers.calls).toEqual([]);
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

describe("the span of a request", () => {
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  it("names method, template and status, and nothing of the path", async () => {
    const { tracing, spans } = recordSpans();
    const traced = await serveApp({ tracing });
    const scan = `${lists}1/positions/secret-of-a-ticket/redeem/`;
    await traced.send("POST", scan, { key: null, headers: { traceparent } });
    await traced.send("MKCOL", scan, { key: null });
    await traced.close();
    expect(spans).toEqual([
      {
        name: "POST /api/v1/organizers/{organizer}/events/{event}/checkinlists/{list}/positions/{lookup}/redeem/",
        kind: "server",
        parent: traceparent,
        traceparent: expect.stringContaining("4bf92f3577b34da6a3ce929d0e0e4736"),
        attributes: {
          "http.request.method": "POST",
          "http.route": "/api/v1/organizers/{organizer}/events/{event}/checkinlists/{list}/positions/{lookup}/redeem/",
          "http.response.status_code": 401,
          "url.scheme": "http",
        },
      },
      expect.objectContaining({
        name: "HTTP",
        parent: undefined,
        attributes: { "http.request.method": "_OTHER", "http.response.status_code": 401, "url.scheme": "http" },
      }),
    ]);
    expect(JSON.stringify(spans)).not.toContain("secret-of");
  });

  it("has failed if the server has, and not if the client has", async () => {
    const { tracing, spans } = recordSpans();
    const handle = async () => {
      throw new Fault("unavailable", "database_unavailable", "the database cannot be reached");
    };
    const route = declare({ name: "fail", summary: "Fails", access: { kind: "public" }, answers: {}, handle });
    const traced = await serveApp({ tracing, routes: (routes) => [...routes, at("GET", "/api/v1/fail/", route)] });
    await traced.send("GET", "/api/v1/fail/", { key: null });
    await traced.send("GET", lists, { key: null });
    await traced.close();
    expect(spans.map(({ failure }) => failure)).toEqual(["database_unavailable", undefined]);
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
            answers: { ok: { description: "Never." } },
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
