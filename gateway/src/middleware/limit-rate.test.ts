import { memoryCache } from "@tessera/engines/cache/memory-cache";
import type { Cache } from "@tessera/kit/cache/cache";
import { afterEach, describe, expect, it } from "vitest";
import { aList } from "../testing/fake-peers.ts";
import { requireDocumented } from "../testing/require-documented.ts";
import { devices, inEvent, keys, type Sent, type ServedApp, serveApp } from "../testing/serve-app.ts";
import { limitRate, type RateLimits } from "./limit-rate.ts";

const lists = `${inEvent}/checkinlists/`;
const redeem = `${lists}7/positions/abc/redeem/`;

const apps: ServedApp[] = [];
async function serve(limits: RateLimits, cache: Cache = memoryCache()): Promise<ServedApp> {
  const app = await serveApp({ rate: { cache, limits } });
  app.peers.when("checkinLists", "listCheckinLists", async () => ({
    lists: [aList()],
    count: 1,
    page: 1,
    isUnchanged: false,
  }));
  app.peers.when("scans", "redeem", async () => ({
    outcome: {
      outcome: { $case: "unknownTicket", value: {} },
      list: { id: 7, name: "Gate", event: "sampleconf", subevent: undefined, includePending: false },
      position: undefined,
      checkinTexts: [],
    },
  }));
  apps.push(app);
  return app;
}
afterEach(async () => {
  for (const app of apps.splice(0)) {
    requireDocumented(app);
    await app.close();
  }
});

const statuses = (answers: readonly Sent[]) => answers.map(({ status }) => status);
async function times(count: number, send: () => Promise<Sent>): Promise<Sent[]> {
  const answers: Sent[] = [];
  for (let time = 0; time < count; time += 1) answers.push(await send());
  return answers;
}

describe("limited requests", () => {
  it("[A12.3, A8.6] are refused beyond the limit, with the time to wait", async () => {
    const app = await serve({ requests: 3, scans: 0 });
    const answers = await times(5, () => app.send("GET", lists));
    expect(statuses(answers)).toEqual([200, 200, 200, 429, 429]);
    const { headers, json } = answers.at(-1) as Sent;
    expect(headers["retry-after"]).toMatch(/^(?:[1-9]|[1-5]\d|60)$/);
    expect(json).toEqual({ detail: expect.stringMatching(/^Too many requests; wait \d+ seconds?\.$/) });
    expect(answers.map(({ headers: { ratelimit } }) => ratelimit)).toEqual(
      [2, 1, 0, 0, 0].map((left) => expect.stringMatching(`^"requests";r=${left};t=(?:59|60)$`)),
    );
    expect(headers["ratelimit-policy"]).toBe('"requests";q=3;w=60');
  });

  it("[A12.2] are counted for each key and each device, whatever they ask for", async () => {
    const app = await serve({ requests: 2, scans: 0 });
    expect(statuses(await times(3, () => app.send("GET", lists)))).toEqual([200, 200, 429]);
    expect((await app.send("OPTIONS", lists)).status).toBe(429);
    expect((await app.send("GET", `${lists}7/positions/`)).status).toBe(429);
    expect((await app.send("GET", lists, { key: keys.reader })).status).toBe(200);
    expect((await app.send("GET", lists, { key: devices.full })).status).toBe(200);
    // Forbidden requests count, too: they cost as much.
    expect(statuses(await times(3, () => app.send("GET", lists, { key: keys.none })))).toEqual([403, 403, 429]);
  });

  it("[A12.2] count across replicas that share a cache", async () => {
    const cache = memoryCache();
    const [one, two] = [await serve({ requests: 2, scans: 0 }, cache), await serve({ requests: 2, scans: 0 }, cache)];
    expect((await one.send("GET", lists)).status).toBe(200);
    expect((await two.send("GET", lists)).status).toBe(200);
    expect((await one.send("GET", lists)).status).toBe(429);
  });

  it("[A12.5] leave alone who has no valid credentials, what is public, and the operator", async () => {
    const app = await serve({ requests: 1, scans: 1 });
    expect(statuses(await times(3, () => app.send("GET", lists, { key: "unknown" })))).toEqual([401, 401, 401]);
    expect(statuses(await times(3, () => app.send("GET", "/api/v1/openapi.json")))).toEqual([200, 200, 200]);
    expect(statuses(await times(3, () => app.send("GET", lists, { key: keys.operator })))).toEqual([403, 403, 403]);
  });
});

describe("scans", () => {
  it("[A12.4] go on while the key has used up its requests", async () => {
    const app = await serve({ requests: 1, scans: 0 });
    await times(2, () => app.send("GET", lists));
    const scans = await times(5, () => app.send("POST", redeem));
    expect(statuses(scans)).toEqual([404, 404, 404, 404, 404]);
    expect(scans.at(-1)?.headers["ratelimit"]).toBeUndefined();
    // Another method at the same address is no scan.
    expect((await app.send("GET", redeem)).status).toBe(429);
  });

  it("[A12.4] have an allowance of their own", async () => {
    const app = await serve({ requests: 0, scans: 2 });
    const scans = await times(3, () => app.send("POST", redeem));
    expect(statuses(scans)).toEqual([404, 404, 429]);
    expect(scans[0]?.headers["ratelimit"]).toMatch(/^"scans";r=1;t=/);
    expect(statuses(await times(4, () => app.send("GET", lists)))).toEqual([200, 200, 200, 200]);
  });

  it("are a route that there is", async () => {
    const { routes } = await serve({ requests: 0, scans: 0 });
    expect(
      routes
        .filter(({ path }) => path.endsWith("/redeem/"))
        .map(({ name }) => name)
        .sort(),
    ).toEqual(["redeemListedPosition", "redeemOnLists"]);
  });
});

it("[A12.1] adds no step without limits", () => {
  expect(limitRate(memoryCache(), { requests: 0, scans: 0 })).toBeUndefined();
});

it("counts under what tells nothing about the credential", async () => {
  const cache = memoryCache();
  const taken: string[] = [];
  const watched: Cache = {
    ...cache,
    limiter: (options) => {
      const limiter = cache.limiter(options);
      return {
        take: (key) => {
          taken.push(key);
          return limiter.take(key);
        },
      };
    },
  };
  const app = await serve({ requests: 100, scans: 0 }, watched);
  await app.send("GET", lists);
  await app.send("GET", lists, { key: devices.full });
  await app.send("GET", lists, { key: keys.reader });
  expect(new Set(taken).size).toBe(3);
  for (const key of taken) expect(key).toMatch(/^[\w-]{22}$/);
});
