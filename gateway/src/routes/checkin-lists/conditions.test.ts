import { beforeEach, describe, expect, it } from "vitest";
import { aList } from "../../testing/fake-peers.ts";
import { appOfEachTest, inEvent } from "../../testing/serve-app.ts";

const lists = `${inEvent}/checkinlists/`;
const changedAt = Date.UTC(2026, 10, 21, 12) * 1000;

const app = appOfEachTest();
beforeEach(() => {
  app.peers.when("checkinLists", "listCheckinLists", async ({ knownAsOf }) =>
    knownAsOf === undefined
      ? { lists: [aList({ subevent: 3 })], count: 1, page: 1, changedAt, isUnchanged: false }
      : { lists: [], count: 0, page: 0, changedAt, isUnchanged: true },
  );
});

describe("conditions on lists", () => {
  it.each(["expand=subevent", "expand=nonsense&expand=subevent", "ends_after=2027-01-01"])(
    "[A11.8] have no effect with %s: dates change, and lists do not",
    async (query) => {
      for (const headers of [
        { "if-modified-since": "Sat, 21 Nov 2026 12:00:00 GMT" },
        { "if-unmodified-since": "Sat, 21 Nov 2026 11:59:59 GMT" },
      ]) {
        const answer = await app.send("GET", `${lists}?${query}`, { headers });
        expect([answer.status, answer.headers["last-modified"]]).toEqual([200, undefined]);
        expect(answer.json).toMatchObject({ count: 1 });
      }
    },
  );

  it.each(["expand=nonsense", "ends_after=", "subevent=3"])("[A11.2] count with %s", async (query) => {
    const headers = { "if-modified-since": "Sat, 21 Nov 2026 12:00:00 GMT" };
    expect((await app.send("GET", `${lists}?${query}`, { headers })).status).toBe(304);
  });
});
