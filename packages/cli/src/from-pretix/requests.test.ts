import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { askPretix } from "./ask-pretix.ts";
import { type FakePlatform, fakePlatform, prepareImport, type TestImport } from "./testing/run-import.ts";
import { fillStub, inEvent, stubOrder } from "./testing/stub-event.ts";
import { type Interference, type StubPretix, sendJson, startStubPretix, stubToken } from "./testing/stub-pretix.ts";

const orders = inEvent("orders/");

describe("requests to a pretix", () => {
  let stub: StubPretix;
  let platform: FakePlatform;
  let imports: TestImport;

  beforeEach(async () => {
    stub = await startStubPretix();
    fillStub(stub);
    stub.lists.set(
      orders,
      ["AAA", "BBB", "CCC", "DDD", "EEE"].map((code) => stubOrder(code)),
    );
    platform = fakePlatform();
    imports = await prepareImport(stub, platform);
  });
  afterEach(async () => {
    await stub.stop();
    await imports.remove();
  });

  const isPage =
    (page: string): ((request: Parameters<Interference>[0]) => boolean) =>
    ({ path, query }) =>
      path === orders && query.get("page") === page;
  const askedTimes = (page: string) => stub.requests.filter(isPage(page)).length;

  it("wait as long as they are asked to", async () => {
    let refused = 0;
    stub.interfere = (request, response) => {
      if (!isPage("2")(request) || refused > 0) return false;
      refused = Date.now();
      response.writeHead(429, { "retry-after": "1" }).end();
      return true;
    };
    await imports.run();
    expect(Date.now() - refused).toBeGreaterThanOrEqual(990);
    expect(askedTimes("2")).toBe(2);
    expect(platform.of("order")).toHaveLength(5);
  });

  it.each<[string, (response: Parameters<Interference>[1]) => void]>([
    ["the connection is lost before the answer", (response) => void response.socket?.destroy()],
    [
      "the connection is lost within the answer",
      (response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write('{"count": 5, "results": [', () => void response.socket?.destroy());
      },
    ],
    ["a server is restarted", (response) => void response.writeHead(502).end("<html>")],
    ["a server is slow", () => {}],
  ])("are made again when %s", async (_name, disturb) => {
    let left = 2;
    stub.interfere = (request, response) => {
      if (!isPage("2")(request) || left === 0) return false;
      left -= 1;
      disturb(response);
      return true;
    };
    await imports.run({ pace: { firstPauseMs: 5, tries: 4, timeoutMs: 200 } });
    expect(askedTimes("2")).toBe(3);
    expect(platform.of("order").map(({ code }) => code)).toEqual(["AAA", "BBB", "CCC", "DDD", "EEE"]);
  });

  it("end with the advice to come again when nothing helps", async () => {
    stub.interfere = (request, response) => {
      if (isPage("2")(request)) response.socket?.destroy();
      return isPage("2")(request);
    };
    expect(await imports.fail()).toMatchObject({ kind: "unavailable", code: "no_pretix" });
    expect(askedTimes("2")).toBe(4);
  });

  it("are two at a time at most", async () => {
    let [now, most] = [0, 0];
    stub.interfere = (_request, response) => {
      now += 1;
      most = Math.max(most, now);
      setTimeout(() => {
        now -= 1;
        sendJson(response, { body: {} });
      }, 10);
      return true;
    };
    const pretix = askPretix({ url: stub.url, token: stubToken });
    await Promise.all(Array.from({ length: 9 }, () => pretix.ask(pretix.address(""), { mostBytes: 100 })));
    expect(stub.requests).toHaveLength(9);
    expect(most).toBe(2);
  });

  it("[S7.2] never go to another origin that a page names", async () => {
    const seen: (string | undefined)[] = [];
    const foreign = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.end("{}");
    });
    await new Promise<void>((resolve) => foreign.listen(0, "127.0.0.1", resolve));
    const { port } = foreign.address() as AddressInfo;
    stub.interfere = ({ path }, response) => {
      if (path === orders)
        sendJson(response, { body: { count: 9, next: `http://127.0.0.1:${port}/?page=2`, results: [] } });
      return path === orders;
    };
    const fault = await imports.fail();
    stub.interfere = ({ path }, response) => {
      if (path === orders) response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end();
      return path === orders;
    };
    const redirected = await imports.fail();
    foreign.closeAllConnections();
    await new Promise((resolve) => foreign.close(resolve));
    expect(fault).toMatchObject({ code: "foreign_next_page" });
    expect(fault.message).toContain(`http://127.0.0.1:${port}`);
    expect(redirected).toMatchObject({ code: "pretix_redirects" });
    expect(seen).toEqual([]);
  });

  it.each([
    ["a page that leads back", JSON.stringify({ count: 9, next: "?page=1", results: [] }), "leads back"],
    ["broken JSON", '{"results": [{"email": "zwiebel@example.org"', "is not JSON"],
    ["an HTML page", "<html>zwiebel</html>", "is not JSON"],
    ["an array", "[]", "is not a JSON object"],
    ["no list", '{"results": {"0": {}}}', "is not a list"],
    ["a list of numbers", '{"results": [1]}', "is not a list"],
    ["a next page that is a number", '{"results": [], "next": 7}', "no next page"],
  ])("[R10.4, S10.5] refuse %s without quoting it", async (_name, body, says) => {
    stub.interfere = ({ path }, response) => {
      if (path === orders) response.end(body);
      return path === orders;
    };
    const fault = await imports.fail();
    expect(fault).toMatchObject({ code: "unexpected_answer" });
    expect(fault.message).toContain(says);
    expect(fault.message).toContain(orders);
    expect(fault.message).not.toContain("zwiebel");
  });

  it("take a list that becomes shorter meanwhile as ended", async () => {
    stub.interfere = (request) => {
      if (isPage("2")(request)) stub.lists.get(orders)?.splice(2);
      return false;
    };
    await imports.run();
    expect(platform.of("order")).toHaveLength(2);
  });

  it.each([
    [401, inEvent(""), "pretix_token_unknown", /does not know the token/],
    [403, inEvent("orders/"), "pretix_permission_missing", /event\.orders:read/],
    [403, inEvent("vouchers/"), "pretix_permission_missing", /event\.vouchers:read/],
    [403, inEvent("items/"), "pretix_permission_missing", /access to the event/],
    [404, inEvent("items/"), "pretix_not_found", /names of organizer and event/],
    [418, inEvent("items/"), "unexpected_answer", /418/],
  ])("explain status %i of %s", async (status, place, code, message) => {
    stub.interfere = ({ path }, response) => {
      if (path === place) sendJson(response, { status, body: { detail: "zwiebel" } });
      return path === place;
    };
    const fault = await imports.fail();
    expect(fault).toMatchObject({ code });
    expect(fault.message).toMatch(message);
    expect(fault.message).not.toContain(stubToken);
    expect(fault.message).not.toContain("zwiebel");
  });

  it.each(["pretix", "ftp://pretix.example.org", "https://user:word@pretix.example.org", ""])(
    "are not made to %j",
    async (url) => {
      expect(await imports.fail({ pretix: url })).toMatchObject({ code: "bad_pretix_url" });
    },
  );

  it.each(["", "/", "/api/v1", "/api/v1/"])("take the address with %j at its end", async (end) => {
    await imports.run({ pretix: `${stub.url}${end}` });
    expect(platform.of("order")).toHaveLength(5);
  });

  it("[R10.4] do not quote a token that cannot be one", async () => {
    const fault = await imports.fail({ token: "two\nlines" });
    expect(fault).toMatchObject({ code: "bad_token" });
    expect(fault.message).not.toContain("two");
  });
});
