import { hash } from "node:crypto";
import { shareReads } from "@tessera/kit/pg/reads";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { deleteEndedSessions } from "../jobs/delete-sessions.ts";
import { findSession } from "../store/session-rows.ts";
import { gatewayDatabase } from "../testing/database.ts";
import { requireDocumented } from "../testing/require-documented.ts";
import { inEvent, keys, publicBase, type Sent, type ServedApp, serveApp, withCookie } from "../testing/serve-app.ts";
import { type Listener, listenForChanges } from "./change-notice.ts";
import type { Directory } from "./directory.ts";
import { makeToken } from "./make-token.ts";
import { openSessions } from "./sessions.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });

interface Gateway {
  readonly app: ServedApp;
  readonly listener: Listener;
  readonly lookUps: number;
}

let gateways: readonly [Gateway, Gateway];
let requestToken: string | undefined;

const { database, db } = await gatewayDatabase();
afterAll(() => database.drop());
beforeEach(async () => {
  requestToken = undefined;
  await db.run(sql`delete from session`);
  gateways = [await serve(), await serve()];
});
afterEach(async () => {
  for (const { app, listener } of gateways) {
    requireDocumented(app);
    await app.close();
    await listener.stop();
  }
});

/** One of two gateways on one database, each with a cache of its own. */
async function serve(): Promise<Gateway> {
  let known: Directory | undefined;
  let heard = 0;
  const reads = shareReads(db);
  const counted = { ...reads, inTurn: countLookUps(reads.inTurn) };
  const app = await serveApp({
    makeToken: () => requestToken ?? makeToken(),
    findSession: (tokenHash) => findSession(db, tokenHash),
    sessions(directory) {
      known = directory;
      return openSessions({ db, reads: counted, directory });
    },
  });
  const listener = listenForChanges({ db, log }, () => {
    heard += 1;
    known?.forget();
  });
  await expect.poll(() => heard).toBeGreaterThan(0);
  app.peers.when("checkinLists", "listCheckinLists", async () => ({
    lists: [],
    count: 0,
    page: 1,
    isUnchanged: false,
  }));
  app.peers.when("credentials", "listCredentials", async () => ({ credentials: [], count: 0, page: 1 }));
  return {
    app,
    listener,
    get lookUps() {
      return counted.inTurn.calls;
    },
  };
}

function countLookUps<F extends (...args: never[]) => unknown>(look: F): F & { calls: number } {
  const counting = Object.assign(
    (...args: never[]) => {
      counting.calls += 1;
      return look(...args);
    },
    { calls: 0 },
  );
  return counting as unknown as F & { calls: number };
}

const ofOrganizer = "/api/v1/organizers/bigevents";
const lists = `${inEvent}/checkinlists/`;

async function makeLink(body: object = {}): Promise<{ id: string; token: string; link: string; expires: string }> {
  const { status, json } = await gateways[0].app.send("POST", `${ofOrganizer}/signinlinks/`, {
    key: keys.operator,
    body: { name: "Ada", all_events: true, ...body },
  });
  expect(status).toBe(201);
  const made = json as { id: string; link: string; expires: string };
  return { ...made, token: new URL(made.link).hash.replace("#link=", "") };
}

const open = (token: string, gateway = 0, headers: Readonly<Record<string, string>> = {}) =>
  (gateways[gateway] as Gateway).app.send("POST", "/api/v1/session/", { key: null, body: { link: token }, headers });

const cookieOf = ({ headers }: Sent) => /^tessera_session=([^;]*)/.exec(headers["set-cookie"]?.[0] ?? "")?.[1] ?? "";

const ask = (token: string, gateway = 0, method = "GET", path = lists) =>
  (gateways[gateway] as Gateway).app.send(method, path, { key: null, headers: withCookie(token) });

async function signIn(body: object = {}): Promise<{ id: string; token: string }> {
  const { id, token } = await makeLink(body);
  return { id, token: cookieOf(await open(token)) };
}

const byOperator = (method: string, path: string, organizer = ofOrganizer) =>
  gateways[1].app.send(method, `${organizer}/sessions/${path}`, { key: keys.operator });

const listed = async () => ((await byOperator("GET", "")).json as { results: Record<string, unknown>[] }).results;

describe("a link", () => {
  it("[P1.1, P1.2] is made by the operator and shown once; only the hash of its token is stored", async () => {
    const { link, token, id } = await makeLink();
    expect(link).toBe(`${publicBase}/board/#link=${token}`);
    const rows = await db.many<{ all: string }>(sql`select session::text as all from session`);
    expect(JSON.stringify(rows)).not.toContain(token);
    expect(JSON.stringify(rows)).toContain(hash("sha256", token, "hex"));
    expect(await listed()).toMatchObject([
      { id, name: "Ada", state: "open", permissions: ["event.orders:read"], all_events: true, events: [], began: null },
    ]);
    for (const key of [keys.all, null]) {
      const refused = await gateways[0].app.send("POST", `${ofOrganizer}/signinlinks/`, { key, body: { name: "x" } });
      expect(refused.status).toBe(key === null ? 401 : 403);
    }
  });

  it("[P1.2] is the same one for a repeated request", async () => {
    requestToken = makeToken();
    const [one, other] = await Promise.all([makeLink(), makeLink()]);
    expect(other).toEqual(one);
    expect(await listed()).toHaveLength(1);
  });

  it("[P1.1] says all that is wrong with it", async () => {
    const ask = async (body: object) =>
      (await gateways[0].app.send("POST", `${ofOrganizer}/signinlinks/`, { key: keys.operator, body })).json;
    expect(await ask({ name: " ", valid_for: 59, session_for: 2_592_001 })).toEqual({
      name: [expect.any(String)],
      valid_for: [expect.any(String)],
      session_for: [expect.any(String)],
    });
    const wrong = { permissions: ["*", "organizer.records:write", "event.order:read"], events: ["none", "sampleconf"] };
    expect(await ask({ name: "x", ...wrong })).toEqual({
      permissions: [
        "A person gets permissions by their names, not all at once.",
        "Records are brought by API keys, not by people.",
        "There is no permission of this name. Did you mean event.orders:read?",
      ],
      events: ["There is no event none."],
    });
    expect(await listed()).toEqual([]);
  });

  it("[P1.1] gives the permissions and events that it names", async () => {
    const grant = { permissions: ["can_view_vouchers", "event.orders:read"], events: ["other"], all_events: false };
    const { token } = await signIn({ ...grant, session_for: 600 });
    expect((await ask(token)).status).toBe(403);
    expect((await ask(token, 0, "GET", "/api/v1/session/")).json).toMatchObject({
      permissions: ["event.orders:read", "event.vouchers:read"],
      ...{ all_events: false, events: ["other"] },
    });
  });

  it("[P1.3] makes one session, however many open it at once, at whichever gateway", async () => {
    for (let round = 0; round < 5; round += 1) {
      const { token } = await makeLink();
      const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => open(token, index % 2)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 400)]);
      const cookies = answers.map(cookieOf).filter((cookie) => cookie !== "");
      expect(cookies).toHaveLength(1);
      expect((await ask(cookies[0] ?? "", round % 2)).status).toBe(200);
      await db.run(sql`delete from session`);
    }
  });

  it("[P1.3] answers the same opening again with the same session, whose first answer was lost", async () => {
    const { token: link } = await makeLink();
    const openAs = (opening: string, gateway: number) =>
      (gateways[gateway] as Gateway).app.send("POST", "/api/v1/session/", { key: null, body: { link, opening } });
    const [mine, other] = ["a".repeat(32), "b".repeat(32)];
    const answers = await Promise.all([0, 1, 0, 1].map((gateway) => openAs(mine, gateway)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const cookies = new Set([...answers, await openAs(mine, 1)].map(cookieOf));
    expect(cookies.size).toBe(1);
    for (const refused of [await openAs(other, 0), await open(link, 1)])
      expect([refused.status, refused.headers["set-cookie"]]).toEqual([400, undefined]);
    expect(await listed()).toMatchObject([{ state: "in use" }]);
    const [cookie = ""] = cookies;
    expect((await ask(cookie, 0, "DELETE", "/api/v1/session/")).status).toBe(204);
    expect((await openAs(mine, 1)).status).toBe(400);
    expect((await openAs("short", 1)).json).toEqual({ opening: ["Ensure this field has at least 32 characters."] });
  });

  it("[P1.4] that is used, old, revoked or unknown is refused in a sentence", async () => {
    const why = async (token: string) => {
      const { status, json, headers } = await open(token, 1);
      expect([status, headers["set-cookie"]]).toEqual([400, undefined]);
      return (json as { link: string[] }).link[0];
    };
    const used = await makeLink();
    await open(used.token);
    expect(await why(used.token)).toMatch(/^This link was opened at \d{4}-\d\d-\d\d \d\d:\d\d UTC, and works once/);
    await db.run(sql`delete from session`);
    const old = await makeLink();
    await db.run(sql`update session set link_ends_at = '2026-01-02 03:04:05Z'`);
    expect(await why(old.token)).toBe("This link could be opened until 2026-01-02 03:04 UTC: ask for another one.");
    await db.run(sql`delete from session`);
    // The other gateway, which has not been asked for it yet.
    const revoked = await makeLink();
    await byOperator("DELETE", `${revoked.id}/`);
    const [before, after] = [await open(revoked.token, 0), await open("of-nowhere", 0)];
    expect(before.json).toEqual({ link: ["This link was revoked: ask for another one."] });
    expect(after.status).toBe(400);
    const unknown = await why("x".repeat(64));
    expect(unknown).toMatch(/^This link is not known/);
    expect(await why("'; drop")).toBe(unknown);
  });

  it("[P1.5] that is unknown is looked up once, as an unknown token is", async () => {
    const [{ lookUps }] = gateways;
    for (let time = 0; time < 20; time += 1) expect((await open("guessed")).status).toBe(400);
    expect(gateways[0].lookUps - lookUps).toBe(1);
  });

  it("[P1.6] is opened by pages of this server, and by programs that are no browser", async () => {
    const { token } = await makeLink();
    for (const headers of [{ "sec-fetch-site": "cross-site" }, { origin: "https://elsewhere.example" }]) {
      const refused = await open(token, 0, { ...headers });
      expect([refused.status, refused.headers["set-cookie"]]).toEqual([403, undefined]);
    }
    expect((await open(token, 0, { "sec-fetch-site": "same-origin" })).status).toBe(200);
  });
});

describe("a session", () => {
  it("[P2.1, P2.6] is a cookie for the API alone, whose token is stored nowhere", async () => {
    const { token: link } = await makeLink({ session_for: 600 });
    const answer = await open(link);
    const [cookie = ""] = answer.headers["set-cookie"] ?? [];
    expect(cookie).toMatch(
      /^tessera_session=[a-z0-9]{64}; Path=\/shop\/api\/; Max-Age=(?:600|599); HttpOnly; SameSite=Strict; Secure$/,
    );
    expect(answer.json).toMatchObject({ organizer: "bigevents", name: "Ada", permissions: ["event.orders:read"] });
    const { expires } = answer.json as { expires: string };
    expect(Math.abs(Date.parse(expires) - Date.now() - 600_000)).toBeLessThan(60_000);
    expect((await ask(cookieOf(answer), 1, "GET", "/api/v1/session/")).json).toEqual(answer.json);
    const rows = await db.many<{ all: string }>(sql`select session::text as all from session`);
    expect(JSON.stringify(rows)).not.toContain(cookieOf(answer));
    for (const { app } of gateways) expect(JSON.stringify(app.logged)).not.toContain(cookieOf(answer));
  });

  it("[P2.2, P2.3] is over at every gateway once its person has signed out", async () => {
    const { token } = await signIn();
    for (const gateway of [0, 1]) expect((await ask(token, gateway)).status).toBe(200);
    const left = await ask(token, 0, "DELETE", "/api/v1/session/");
    expect([left.status, left.headers["set-cookie"]?.[0]]).toEqual([
      204,
      "tessera_session=; Path=/shop/api/; Max-Age=0; HttpOnly; SameSite=Strict; Secure",
    ]);
    expect((await ask(token, 0)).json).toEqual({ detail: "This session is over: sign in again." });
    await expect.poll(async () => (await ask(token, 1)).status, { interval: 10 }).toBe(401);
    expect(await listed()).toMatchObject([{ state: "ended" }]);
  });

  it("[P2.3, P2.4] is refused by every gateway at once when the operator revokes it", async () => {
    const { token, id } = await signIn();
    const other = await signIn({ name: "Grace" });
    for (const gateway of [0, 1]) expect((await ask(token, gateway)).status).toBe(200);
    expect((await byOperator("DELETE", `${id}/`)).status).toBe(204);
    expect((await ask(token, 1)).status).toBe(401);
    await expect.poll(async () => (await ask(token, 0)).status, { interval: 10 }).toBe(401);
    expect((await ask(token, 0)).json).toEqual({ detail: expect.stringContaining("was revoked") });
    expect((await ask(other.token, 0)).status).toBe(200);
    const states = new Map((await listed()).map((each) => [each["id"], each["state"]]));
    expect(states).toEqual(
      new Map([
        [id, "revoked"],
        [other.id, "in use"],
      ]),
    );
    expect((await byOperator("DELETE", `${id}/`)).status).toBe(204);
  });

  it("[P2.4] of another organizer is not found", async () => {
    const { token, id } = await signIn();
    const others = "/api/v1/organizers/somebody";
    expect((await byOperator("DELETE", `${id}/`, others)).status).toBe(404);
    expect((await byOperator("GET", "", others)).json).toMatchObject({ count: 0 });
    expect((await byOperator("DELETE", "5f0c8a52-6b0e-4c7e-9d55-0e6f5f3a9c11/")).status).toBe(404);
    expect((await byOperator("DELETE", "x/")).status).toBe(404);
    expect((await ask(token)).status).toBe(200);
  });

  it("[P2.3] ends by itself, also where a gateway remembers it", async () => {
    const { token } = await signIn();
    await db.run(sql`update session set ends_at = now() + interval '300 ms'`);
    expect((await ask(token)).status).toBe(200);
    await expect.poll(async () => (await ask(token)).status, { interval: 20 }).toBe(401);
    expect((await ask(token)).json).toEqual({ detail: "This session is over: sign in again." });
  });

  it("[P2.5] is forgotten a week after its end, and a link after its own", async () => {
    const run = () => deleteEndedSessions({ db }).run(new AbortController().signal);
    const { token } = await signIn();
    await db.run(sql`update session set ends_at = now() - interval '6 days'`);
    await run();
    expect((await ask(token)).json).toEqual({ detail: "This session is over: sign in again." });
    await db.run(sql`update session set ends_at = now() - interval '8 days'`);
    await run();
    expect(await listed()).toEqual([]);
    await makeLink();
    await db.run(sql`update session set link_ends_at = now() - interval '8 days'`);
    await run();
    expect(await listed()).toEqual([]);
  });
});
