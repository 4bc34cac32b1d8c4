import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { deviceProfiles } from "@tessera/values";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { operateDevices, operateKeys } from "./operate-credentials.ts";

interface Asked {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly key: string | undefined;
  readonly body: unknown;
}

type Answer = readonly [status: number, body: unknown];

let server: Server;
let url: string;
let asked: Asked[];
let answers: Answer[];
let stdout: string;
let stderr: string;

beforeEach(async () => {
  asked = [];
  answers = [];
  stdout = "";
  stderr = "";
  vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    stdout += String(chunk);
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((chunk) => {
    stderr += String(chunk);
    return true;
  });
  vi.stubEnv("TESSERA_OPERATOR_KEY", "operator");
  vi.stubEnv("BASE_URL", "");
  server = createServer((request, response) => {
    void text(request).then((body) => {
      const { method, url: path, headers } = request;
      asked.push({ method, url: path, key: headers.authorization, body: body === "" ? undefined : JSON.parse(body) });
      const [status, answer] = answers.shift() ?? [500, {}];
      response.writeHead(status, { "content-type": "application/json" });
      response.end(typeof answer === "string" ? answer : JSON.stringify(answer));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => void server.close());

const key = {
  id: "0123456789abcdef",
  name: "shop",
  permissions: ["event.orders:read"],
  all_events: false,
  events: ["fest", "party"],
  active: true,
};
const device = {
  device_id: 3,
  name: "north",
  gate: 7,
  security_profile: "pretixscan",
  software_brand: "",
  all_events: true,
  events: [],
  revoked: true,
};
const page = (results: unknown[], next: string | null = null): Answer => [
  200,
  { count: 9, next, previous: null, results },
];
const keys = (...args: string[]) => operateKeys([...args, "--url", url]);
const devices = (...args: string[]) => operateDevices([...args, "--url", url]);

describe("creating", () => {
  it("[R9.15] prints a key's token and nothing else on standard output", async () => {
    answers.push([201, { ...key, token: "fresh-token", settled: true }]);
    await keys(
      "create",
      "--organizer",
      "big events",
      "--name",
      "shop",
      "--permissions",
      "can_view_orders, *",
      "--events",
      "fest,party",
    );
    expect(stdout).toBe("fresh-token\n");
    expect(stderr).toMatch(
      /^API key 0123456789abcdef \(shop\) of big events: event\.orders:read, fest, party\.\nIts token/,
    );
    expect(stderr).not.toContain("fresh-token");
    expect(asked).toEqual([
      {
        method: "POST",
        url: "/api/v1/organizers/big%20events/apikeys/",
        key: "Token operator",
        body: { name: "shop", all_events: false, events: ["fest", "party"], permissions: ["can_view_orders", "*"] },
      },
    ]);
  });

  it("says that a key without events opens none", async () => {
    answers.push([201, { ...key, events: [], token: "fresh-token", settled: true }]);
    await keys("create", "--organizer", "big", "--name", "shop", "--permissions", "*");
    expect(stdout).toBe("fresh-token\n");
    expect(stderr).toMatch(/no event\.\nIts token.+\nIt opens no event\. .+--all-events or --events\.\n$/);
  });

  it("[E3.11, R9.15] draws the code of a device, with which a scanner sets itself up", async () => {
    const setup = '{"handshake_version":1,"url":"http://localhost:8000","token":"kpp4jn8g2ynznnp6"}';
    answers.push([201, { ...device, revoked: false, token: "fresh-token", setup, settled: true }]);
    await devices("create", "--organizer", "big", "--name", "north", "--all-events");
    expect(stdout).toBe("fresh-token\n");
    expect(stderr).toContain("once, within a week");
    expect(stderr.split("\n").filter((line) => /[▀▄█]{3}/.test(line)).length).toBeGreaterThan(12);
    expect(stderr).not.toContain("kpp4jn8g2ynznnp6");
  });

  it("[G2.1] prints the link of the scanner page and draws it, for a browser that is to scan", async () => {
    const setup = '{"handshake_version":1,"url":"https://tickets.example.com/shop/","token":"kpp4jn8g2ynznnp6"}';
    answers.push([201, { ...device, revoked: false, token: "fresh-token", setup, settled: true }]);
    await devices("create", "--organizer", "big", "--name", "north", "--all-events", "--page");
    expect(stdout).toBe("fresh-token\n");
    expect(stderr).toContain("\n  https://tickets.example.com/shop/scan/#setup=kpp4jn8g2ynznnp6\n");
    expect(stderr.split("\n").filter((line) => /[▀▄█]{3}/.test(line)).length).toBeGreaterThan(12);
    expect(asked[0]?.body).not.toHaveProperty("page");
  });

  it("[R9.13, R9.15] prints a device's token, and says when gateways do not know it yet", async () => {
    answers.push([201, { ...device, revoked: false, token: "fresh-token", settled: false }]);
    await devices(
      "create",
      "--organizer",
      "big",
      "--name",
      "north",
      "--gate",
      "7",
      "--profile",
      "pretixscan",
      "--all-events",
    );
    expect(stdout).toBe("fresh-token\n");
    expect(stderr).toContain("Device 3 (north) of big: profile pretixscan, gate 7, all events.");
    expect(stderr).toContain("The gateways do not know it yet");
    expect(asked[0]?.body).toEqual({
      name: "north",
      all_events: true,
      events: [],
      gate: "7",
      security_profile: "pretixscan",
      software_brand: "",
    });
  });
});

describe("listing", () => {
  it("reads every page and sets a table that no name can break", async () => {
    answers.push(
      page([key], "https://elsewhere/?page=2"),
      page([{ ...key, name: "\u001b[2Jx\ny", active: false, permissions: ["*"], events: [] }]),
    );
    await keys("list", "--organizer", "big");
    expect(asked.map((request) => request.url)).toEqual([
      "/api/v1/organizers/big/apikeys/?page=1",
      "/api/v1/organizers/big/apikeys/?page=2",
    ]);
    expect(stdout.trimEnd().split("\n")).toEqual([
      "  ID                STATE    EVENTS       PERMISSIONS        NAME",
      "  0123456789abcdef  active   fest, party  event.orders:read  shop",
      "  0123456789abcdef  revoked  no event     every permission   \ufffd[2Jx\ufffdy",
    ]);
  });

  it("prints JSON where it is asked for", async () => {
    answers.push(page([device]));
    await devices("list", "--organizer", "big", "--json");
    expect(JSON.parse(stdout)).toEqual([device]);
    stdout = "";
    answers.push(page([]));
    await devices("list", "--organizer", "big");
    expect(stdout).toBe("There are no devices.\n");
  });
});

it("revoking says what is revoked", async () => {
  answers.push([200, { ...key, active: false, settled: true }], [200, { ...device, settled: true }]);
  await keys("revoke", "01234567", "--organizer", "big");
  await devices("revoke", "3", "--organizer", "big");
  expect(stdout).toBe("API key 0123456789abcdef (shop) is revoked.\nDevice 3 (north) is revoked.\n");
  expect(asked.map((request) => request.url)).toEqual([
    "/api/v1/organizers/big/apikeys/01234567/revoke/",
    "/api/v1/organizers/big/devices/3/revoke/",
  ]);
});

it("the help of create names what works here, with what it is for", async () => {
  await operateKeys(["create", "--help"]);
  expect(stdout).toMatch(/^ {2}event\.orders:checkin +scan/m);
  expect(stdout).not.toContain("giftcards");
  stdout = "";
  await operateDevices(["create", "--help"]);
  for (const profile of deviceProfiles) expect(stdout).toMatch(new RegExp(`^ {2}${profile} +[a-z]`, "m"));
});

describe("what goes wrong is one sentence", () => {
  it.each<[string, Answer, string]>([
    [
      "wrong fields",
      [400, { name: ["Too long."], events: ["Not known.", "Nor this."] }],
      "the platform refused this with status 400: name: Too long; events: Not known, Nor this",
    ],
    [
      "a missing organizer",
      [404, { detail: "There is no such organizer." }],
      "the platform refused this with status 404: There is no such organizer",
    ],
    [
      "a wrong key",
      [401, { detail: "This token is not valid." }],
      "the platform refused this with status 401: This token is not valid",
    ],
    ["something that is no Tessera", [200, "<html>"], "is no Tessera"],
    ["a server that leads elsewhere", [301, ""], "leads elsewhere"],
    ["an error page", [502, "<html>"], "the platform refused this with status 502"],
  ])("%s", async (_name, answer, message) => {
    answers.push(answer);
    await expect(keys("create", "--organizer", "big", "--name", "shop", "--permissions", "*")).rejects.toThrow(message);
    expect(stdout).toBe("");
  });

  it("a platform that is not there", async () => {
    await expect(operateKeys(["list", "--organizer", "big", "--url", "http://127.0.0.1:1"])).rejects.toMatchObject({
      code: "no_platform",
    });
    await expect(operateKeys(["list", "--organizer", "big", "--url", "nonsense"])).rejects.toMatchObject({
      code: "bad_url",
    });
  });

  it.each([
    [["create", "--name", "shop"], "--organizer is required"],
    [["create", "--organizer", "big"], "--name is required"],
    [["create", "--organizer", "big", "--name", "shop", "--events", "fest", "--all-events"], "not both"],
    [["create", "--organizer", "big", "--name", "shop", "fest"], "fest is not expected here"],
    [["create", "--organizer", "big", "--name", "shop"], "--permissions is required, and --events or --all-events"],
    [["revoke", "--organizer", "big"], "name one API key by its id"],
    [["revoke", "a", "b", "--organizer", "big"], "name one API key by its id"],
    [["create", "--organizer", "big", "--nonsense"], "`tessera keys create --help` lists the options"],
    [["remove"], "there is no verb keys remove"],
  ])("%j", async (args, message) => {
    await expect(operateKeys(args)).rejects.toThrow(message);
  });

  it("a profile that does not exist", async () => {
    await expect(devices("create", "--organizer", "big", "--name", "x", "--profile", "nonsense")).rejects.toThrow(
      "the profiles are full, pretixscan, pretixscan_online_kiosk, pretixscan_online_noorders",
    );
    expect(asked).toEqual([]);
  });

  it("an operator key that is not where its option says", async () => {
    const list = ["list", "--organizer", "big"];
    await expect(keys(...list, "--key-file", "/none")).rejects.toMatchObject({ code: "secret_file_unusable" });
    await expect(keys(...list, "--key-file", "/none", "--key", "x")).rejects.toMatchObject({
      code: "secret_given_twice",
    });
    expect(asked).toEqual([]);
  });

  it("a missing operator key", async () => {
    vi.stubEnv("TESSERA_OPERATOR_KEY", "");
    await expect(keys("list", "--organizer", "big")).rejects.toMatchObject({ code: "no_operator_key" });
  });
});
