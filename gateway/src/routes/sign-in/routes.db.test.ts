import { shareReads } from "@tessera/kit/pg/reads";
import { sql } from "@tessera/kit/pg/sql";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openIdentityProvider } from "../../access/identity-provider.ts";
import { openSessions } from "../../access/sessions.ts";
import { findSession } from "../../store/session-rows.ts";
import { gatewayDatabase } from "../../testing/database.ts";
import { clientId, clientSecret, startProvider, type TestProvider } from "../../testing/fake-provider.ts";
import { requireDocumented } from "../../testing/require-documented.ts";
import { publicBase, type Sent, type ServedApp, serveApp, withCookie } from "../../testing/serve-app.ts";
import { callbackPath } from "./routes.ts";

let provider: TestProvider;
let gateways: readonly [ServedApp, ServedApp];

const { database, db } = await gatewayDatabase();
afterAll(() => database.drop());
beforeEach(async () => {
  // The provider warns of what it is here: one of a test.
  vi.spyOn(console, "warn").mockReturnValue(undefined);
  await db.run(sql`delete from session`);
  provider = await startProvider({ callback: publicBase + callbackPath });
  gateways = [await serve(), await serve()];
});
afterEach(async () => {
  for (const gateway of gateways) {
    requireDocumented(gateway);
    await gateway.close();
  }
  await provider.close();
});

function serve(secret = clientSecret): Promise<ServedApp> {
  const settings = { issuer: provider.issuer, clientId, clientSecret: secret, claim: "tessera" };
  return serveApp({
    findSession: (tokenHash) => findSession(db, tokenHash),
    sessions: (directory) => openSessions({ db, reads: shareReads(db), directory }),
    identityProvider: openIdentityProvider(settings),
  });
}

const begin = (query = "", gateway = gateways[0]) =>
  gateway.send("GET", `/api/v1/session/oidc/${query}`, { key: null, headers: { accept: "text/html,*/*;q=0.8" } });

const cookiesOf = ({ headers }: Sent) =>
  (headers["set-cookie"] ?? []).map((cookie) => cookie.split(";")[0] ?? "").join("; ");

/** Follows a browser through the provider; returns the address that it is sent back to, below that of the deployment. */
async function passProvider(start: Sent): Promise<string> {
  const jar = new Map<string, string>();
  let address = start.headers.location ?? "";
  for (let step = 0; step < 10 && !address.startsWith(publicBase); step += 1) {
    const cookie = Array.from(jar, ([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(address, { redirect: "manual", headers: { cookie } });
    for (const each of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
      jar.set(name, value);
    }
    const location = answer.headers.get("location");
    expect(location, await answer.text()).not.toBeNull();
    address = new URL(location ?? "", address).href;
  }
  expect(address.startsWith(publicBase)).toBe(true);
  return address.slice(publicBase.length);
}

const comeBack = (path: string, cookie: string, gateway = gateways[1]) =>
  gateway.send("GET", path, { key: null, headers: { cookie, accept: "text/html" } });

/** Signs in: begins at one gateway, and ends at another. */
async function signIn(query = ""): Promise<Sent> {
  const start = await begin(query);
  return comeBack(await passProvider(start), cookiesOf(start));
}

const sessionOf = (answer: Sent, gateway = gateways[0]) =>
  gateway.send("GET", "/api/v1/session/", {
    key: null,
    headers: withCookie(/tessera_session=([^;]+)/.exec(answer.headers["set-cookie"]?.[0] ?? "")?.[1] ?? ""),
  });

const count = async () => (await db.many(sql`select id from session`)).length;

describe("a person at the provider of identities", () => {
  it("[P4.2, P4.3] is signed in by any gateway, and led to the board", async () => {
    provider.account = { claims: { sub: "1", name: "Ada Lovelace", tessera: ["bigevents"] } };
    const start = await begin();
    expect(start.status).toBe(303);
    const asked = new URL(start.headers.location ?? "").searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      ...{ response_type: "code", client_id: clientId, code_challenge_method: "S256" },
      redirect_uri: `${publicBase}/api/v1/session/oidc/callback/`,
    });
    expect(start.headers["set-cookie"]?.[0]).toMatch(
      /^tessera_sign_in=[\w-]+; Path=\/shop\/api\/v1\/session\/oidc\/; Max-Age=900; HttpOnly; SameSite=Lax; Secure$/,
    );
    const answer = await comeBack(await passProvider(start), cookiesOf(start));
    expect([answer.status, answer.headers.location]).toEqual([303, `${publicBase}/board/`]);
    expect(answer.headers["set-cookie"]?.[0]).toMatch(
      /^tessera_session=[a-z0-9]{64}; Path=\/shop\/api\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/,
    );
    expect((await sessionOf(answer)).json).toMatchObject({
      ...{ organizer: "bigevents", name: "Ada Lovelace", permissions: ["event.orders:read"] },
      ...{ all_events: true, events: [] },
    });
  });

  it("[P4.4] gets what the claim of the account says, also where only the address for claims tells it", async () => {
    const tessera = ["bigevents:event.vouchers:read", "bigevents:event.orders:write", "bigevents:*"];
    provider.account = { claims: { sub: "2", name: "Grace", tessera }, apart: true };
    expect((await sessionOf(await signIn())).json).toMatchObject({
      permissions: ["event.orders:write", "event.vouchers:read"],
    });
  });

  it("[P4.5] chooses one of several organizers, or named it before", async () => {
    provider.account = { claims: { sub: "3", tessera: ["bigevents", "somebody:event.orders:write"] } };
    const page = await signIn();
    expect([page.status, page.headers["content-type"], page.headers["set-cookie"]]).toEqual([
      200,
      "text/html; charset=utf-8",
      undefined,
    ]);
    expect(page.headers["content-security-policy"]).toContain("default-src 'none'");
    expect(Array.from(page.text.matchAll(/href="([^"]+)"/g), ([, href]) => href)).toEqual(
      ["bigevents", "somebody"].map((name) => `${publicBase}/api/v1/session/oidc/?organizer=${name}`),
    );
    expect(page.text).not.toMatch(/<script|<style/);
    const named = await signIn("?organizer=somebody");
    expect((await sessionOf(named)).json).toMatchObject({ organizer: "somebody", name: "3" });
    const other = await signIn("?organizer=third");
    expect([other.status, other.json]).toEqual([403, { detail: "This account does not open the organizer third." }]);
    expect((await begin("?organizer=a/b")).json).toEqual({ organizer: [expect.any(String)] });
    expect(await count()).toBe(1);
  });

  it.each([[[]], [undefined], [["bigevents:organizer.records:write"]]])(
    "[P4.4] whose account says %j is not signed in",
    async (tessera) => {
      provider.account = { claims: { sub: "4", tessera } };
      const answer = await signIn();
      expect([answer.status, answer.headers["set-cookie"], await count()]).toEqual([403, undefined, 0]);
    },
  );

  it("[P4.6] who gives up is told what the provider said", async () => {
    const answer = await signIn();
    expect([answer.status, answer.json, answer.headers["content-type"]]).toEqual([
      400,
      { detail: "The provider of identities has not signed you in: access_denied, Gave up <b>here</b>" },
      "application/json; charset=utf-8",
    ]);
  });

  it("[P4.3] who did not begin in this browser is not signed in", async () => {
    provider.account = { claims: { sub: "5", tessera: ["bigevents"] } };
    const [start, another] = [await begin(), await begin()];
    const path = await passProvider(start);
    for (const cookie of ["", cookiesOf(another), "tessera_sign_in=x", "tessera_sign_in=WyIiXQ"]) {
      const answer = await comeBack(path, cookie);
      expect([answer.status, answer.headers["set-cookie"]], cookie).toEqual([400, undefined]);
      expect(answer.json).toEqual({ detail: expect.stringContaining("another browser") });
    }
    // With the state of one attempt and the code of the other.
    const mixed = path.replace(
      /state=[^&]+/,
      `state=${new URL(another.headers.location ?? "").searchParams.get("state")}`,
    );
    expect((await comeBack(mixed, cookiesOf(another))).status).toBe(400);
    expect(await count()).toBe(0);
    expect((await comeBack(path, cookiesOf(start))).status).toBe(303);
  });

  it("[P4.3] is signed in once with one answer of the provider", async () => {
    provider.account = { claims: { sub: "6", tessera: ["bigevents"] } };
    const start = await begin();
    const path = await passProvider(start);
    expect((await comeBack(path, cookiesOf(start))).status).toBe(303);
    expect((await comeBack(path, cookiesOf(start))).status).toBe(400);
    expect(await count()).toBe(1);
  });

  it("[P4.6] cannot be signed in while the provider is away or refuses this deployment, and can afterwards", async () => {
    provider.account = { claims: { sub: "7", tessera: ["bigevents"] } };
    const misled = await serve("another secret");
    const start = await begin("", misled);
    const refused = await comeBack(await passProvider(start), cookiesOf(start), misled);
    expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "1"]);
    expect(misled.logged.filter(({ level }) => level === "warn")).not.toEqual([]);
    expect(JSON.stringify(misled.logged)).not.toMatch(/another secret|code=/);
    await misled.close();
    const begun = await begin();
    const path = await passProvider(begun);
    provider.fail();
    const away = await comeBack(path, cookiesOf(begun));
    expect([away.status, away.json]).toEqual([
      503,
      { detail: expect.stringContaining("cannot be used at the moment") },
    ]);
  });

  it("[P4.1] is not asked for where the deployment has no provider", async () => {
    const alone = await serveApp();
    for (const path of ["/api/v1/session/oidc/", callbackPath])
      expect((await alone.send("GET", path, { key: null })).status).toBe(404);
    await alone.close();
  });
});
