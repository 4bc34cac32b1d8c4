import { describe, expect, it } from "vitest";
import { aList } from "../testing/fake-peers.ts";
import {
  appOfEachTest,
  devices,
  inEvent,
  inTheirEvent,
  keys,
  people,
  publicBase,
  withCookie,
} from "../testing/serve-app.ts";
import { operator, toPerson } from "./caller.ts";
import { readCookies, writeCookie } from "./cookies.ts";

const app = appOfEachTest();
const lists = `${inEvent}/checkinlists/`;

const send = (method: string, path: string, headers: Readonly<Record<string, string>>, body?: object) =>
  app.send(method, path, { key: null, headers, ...(body === undefined ? {} : { body }) });

function answerLists() {
  app.peers.when("checkinLists", "listCheckinLists", async () => ({
    lists: [],
    count: 0,
    page: 1,
    isUnchanged: false,
  }));
  app.peers.when("checkinLists", "createCheckinList", async () => ({ list: aList() }));
}

describe("the cookie of a session", () => {
  it("[P3.1] stands for credentials where there is no Authorization header, and nowhere else", async () => {
    answerLists();
    expect((await send("GET", lists, withCookie(people.reader))).status).toBe(200);
    const other = `theme=dark; ${withCookie(people.reader).cookie}; x="y"`;
    expect((await send("GET", lists, { cookie: other })).status).toBe(200);
    const none = await send("GET", lists, { ...withCookie(people.reader), authorization: `Token ${keys.none}` });
    expect(none.status).toBe(403);
    for (const authorization of ["", "Token", "Token unknown", "Basic x"])
      expect((await send("GET", lists, { ...withCookie(people.reader), authorization })).status, authorization).toBe(
        401,
      );
  });

  it.each([
    ["is unknown", "tessera_session=unknown", "not signed in"],
    ["is empty", "tessera_session=", "not signed in"],
    ["is the token of a key", `tessera_session=${keys.all}`, "not signed in"],
    ["is the token of a device", `tessera_session=${devices.full}`, "not signed in"],
    ["is the key of the operator", `tessera_session=${keys.operator}`, "not signed in"],
    ["was revoked", `tessera_session=${people.revoked}`, "was revoked"],
    ["is over", `tessera_session=${people.ended}`, "is over"],
    ["comes twice", `tessera_session=${people.all}; tessera_session=${people.all}`, "several cookies"],
    ["is another one", `my_tessera_session=${people.all}`, "needs credentials"],
  ])("[P2.3, P3.1] is refused where it %s", async (_what, cookie, sentence) => {
    const answer = await send("GET", lists, { cookie });
    expect([answer.status, answer.headers["www-authenticate"]]).toEqual([401, "Token"]);
    expect(answer.json).toEqual({ detail: expect.stringContaining(sentence) });
  });

  it("[P3.1] is no token of a key or a device", async () => {
    for (const scheme of ["Token", "Device"])
      expect((await send("GET", lists, { authorization: `${scheme} ${people.all}` })).status).toBe(401);
  });

  it("[P2.1] is written for the API of this deployment, and for no script", () => {
    const options = { path: "/api/", seconds: 60, sameSite: "Strict" } as const;
    expect(writeCookie("a", "b", { ...options, base: "https://tickets.example.com/shop" })).toBe(
      "a=b; Path=/shop/api/; Max-Age=60; HttpOnly; SameSite=Strict; Secure",
    );
    expect(writeCookie("a", "b", { ...options, base: "http://localhost:8000" })).toBe(
      "a=b; Path=/api/; Max-Age=60; HttpOnly; SameSite=Strict",
    );
    expect(readCookies("a=1; b=a=2;a = 3 ; ab=4;a", "a")).toEqual(["1", "3"]);
  });
});

describe("a person", () => {
  it("[P3.3] sees the events of the session, and no other", async () => {
    answerLists();
    expect((await send("GET", lists, withCookie(people.otherEvent))).status).toBe(403);
    expect((await send("GET", `${inTheirEvent}/checkinlists/`, withCookie(people.all))).status).toBe(403);
    const other = lists.replace("sampleconf", "other");
    expect((await send("GET", other, withCookie(people.otherEvent))).status).toBe(200);
  });

  it("[P3.2] gets the permissions of the session alone", async () => {
    answerLists();
    expect((await send("POST", lists, withCookie(people.reader), { name: "Gate" })).status).toBe(403);
    expect((await send("POST", lists, withCookie(people.all), { name: "Gate" })).status).toBe(201);
    for (const path of ["/api/v1/organizers/bigevents/apikeys/", "/api/v1/organizers/bigevents/retention/"])
      expect((await send("GET", path, withCookie(people.all))).status, path).toBe(403);
    expect((await send("POST", "/api/v1/import/", withCookie(people.all))).status).toBe(403);
    expect((await send("GET", "/api/v1/device/info", withCookie(people.all))).status).toBe(403);
  });

  it("[P3.4] changes something from pages of this server alone", async () => {
    answerLists();
    const { cookie } = withCookie(people.all);
    const change = async (headers: Readonly<Record<string, string>>, method = "POST") =>
      (await send(method, lists, { cookie, ...headers }, { name: "Gate" })).status;
    const { origin } = new URL(publicBase);
    expect(await change({ "sec-fetch-site": "same-origin", origin: "https://elsewhere.example" })).toBe(201);
    expect(await change({ origin })).toBe(201);
    for (const site of ["same-site", "cross-site", "none", ""])
      expect(await change({ "sec-fetch-site": site, ...(site === "" ? {} : { origin }) }), site).toBe(403);
    for (const other of ["https://elsewhere.example", "http://tickets.example.com", `${origin}:8443`, "null"])
      expect(await change({ origin: other }), other).toBe(403);
    expect(await change({})).toBe(403);
    for (const method of ["PUT", "PATCH", "DELETE", "OPTIONS"]) expect(await change({}, method), method).toBe(403);
    const { json } = await send("POST", lists, { cookie, "x-idempotency-key": "k" }, {});
    expect(json).toEqual({ detail: expect.stringContaining("pages of this server") });
    for (const method of ["GET", "HEAD"]) {
      const read = await send(method, lists, { cookie, "sec-fetch-site": "cross-site" });
      expect(read.status, method).toBe(200);
    }
    const withKey = { authorization: `Token ${keys.all}`, cookie, "sec-fetch-site": "cross-site" };
    expect((await send("POST", lists, withKey, { name: "Gate" })).status).toBe(201);
  });

  it("[P3.5] gets answers that no browser keeps and no other page reads", async () => {
    answerLists();
    for (const headers of [
      withCookie(people.all),
      { ...withCookie(people.all), origin: "https://elsewhere.example" },
    ]) {
      for (const path of [lists, "/api/v1/session/", `${inEvent}/none/`, `${inTheirEvent}/checkinlists/`]) {
        const answer = await send("GET", path, headers);
        expect(answer.headers["cache-control"], path).toContain("no-store");
        expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control-"))).toEqual([]);
      }
    }
  });

  it("[P2.2] is shown the own session, and nobody else is", async () => {
    const answer = await send("GET", "/api/v1/session/", withCookie(people.otherEvent));
    expect(answer).toMatchObject({
      status: 200,
      json: { organizer: "bigevents", name: "Ada", all_events: false, events: ["other"] },
    });
    expect((await send("GET", "/api/v1/session/", {})).status).toBe(401);
    expect((await send("DELETE", "/api/v1/session/", {})).status).toBe(401);
    for (const key of [keys.all, keys.operator, devices.full])
      expect((await app.send("GET", "/api/v1/session/", { key })).status, key).toBe(403);
    expect((await send("PUT", "/api/v1/session/", {})).status).toBe(401);
    expect((await send("PUT", "/api/v1/session/", withCookie(people.all))).status).toBe(405);
  });

  it("[P3.6] is counted, repeated and logged apart from keys and devices, by nothing that leads to the token", async () => {
    const session = {
      organizer: "o",
      name: "Ada",
      permissions: [],
      allEvents: true,
      events: [],
      state: "in use",
    } as const;
    const times = { createdAt: 0, beganAt: 0, endsAt: 0, endsInMs: 0 };
    const [one, other] = ["1", "2"].map((id) => toPerson({ ...session, ...times, id }));
    expect(one?.countedAs).not.toBe(other?.countedAs);
    expect([one?.kind, one?.logId, one?.device, operator.logId]).toEqual(["person", "person:1", undefined, "operator"]);
    answerLists();
    await send("POST", lists, { cookie: withCookie(people.all).cookie });
    expect(app.logged.at(-1)).toMatchObject({ caller: "person:5f0c8a52", status: 403 });
    expect(JSON.stringify(app.logged)).not.toContain(people.all);
  });
});
