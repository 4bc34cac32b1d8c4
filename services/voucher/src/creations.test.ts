import { Fault } from "@tessera/kit/fault";
import { describe, expect, it } from "vitest";
import { type CreateTogether, gatherCreations } from "./creations.ts";

const calm = new AbortController().signal;
const at = (organizer: string, event = "festival") => ({ organizer, event });

/** Creates by hand: each transaction ends when the test says so. */
function start() {
  const begun: { place: string; asked: readonly string[]; end: (failure?: Error) => void }[] = [];
  const createTogether: CreateTogether<string, string> = ({ organizer, event }, asked) =>
    new Promise((resolve, reject) => {
      begun.push({
        place: `${organizer}/${event}`,
        asked,
        end: (failure) => {
          if (failure !== undefined) return reject(failure);
          resolve(
            asked.map((each) => (each.startsWith("bad") ? { refusal: new Error(each) } : { created: `${each}!` })),
          );
        },
      });
    });
  return { begun, creations: gatherCreations(createTogether) };
}

const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

describe("gatherCreations", () => {
  it("serves a single request at once, and those that come meanwhile together", async () => {
    const { begun, creations } = start();
    const first = creations.create(at("a"), "one", calm);
    await turn();
    expect(begun.map(({ asked }) => asked)).toEqual([["one"]]);
    const others = ["two", "three"].map((asked) => creations.create(at("a"), asked, calm));
    await turn();
    expect(begun).toHaveLength(1);
    begun[0]?.end();
    expect(await first).toBe("one!");
    await turn();
    expect(begun[1]?.asked).toEqual(["two", "three"]);
    begun[1]?.end();
    expect(await Promise.all(others)).toEqual(["two!", "three!"]);
  });

  it("[V14.5] refuses a request without harm to those beside it", async () => {
    const { begun, creations } = start();
    const outcomes = Promise.allSettled(["one", "bad", "two"].map((asked) => creations.create(at("a"), asked, calm)));
    await turn();
    begun[0]?.end();
    expect((await outcomes).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });

  it("[V14.5] tries each request alone where a transaction failed, unless it would fail again", async () => {
    const { begun, creations } = start();
    const outcomes = Promise.allSettled(["one", "two"].map((asked) => creations.create(at("a"), asked, calm)));
    await turn();
    begun[0]?.end(new Error("one of them is strange"));
    await turn();
    begun[1]?.end(new Error("this one"));
    await turn();
    begun[2]?.end();
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    const outage = Promise.allSettled(["one", "two"].map((asked) => creations.create(at("a"), asked, calm)));
    await turn();
    begun[3]?.end(new Fault("unavailable", "database_unavailable", "gone"));
    expect((await outage).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(begun).toHaveLength(4);
  });

  it("has one transaction of an organizer at a time, and of one event", async () => {
    const { begun, creations } = start();
    const created = [
      creations.create(at("a"), "one", calm),
      creations.create(at("a", "other"), "two", calm),
      creations.create(at("b"), "three", calm),
      creations.create(at("a"), "four", calm),
    ];
    await turn();
    expect(begun.map(({ place, asked }) => [place, ...asked])).toEqual([
      ["a/festival", "one", "four"],
      ["b/festival", "three"],
    ]);
    for (let ended = 0; ended < 3; ended += 1) {
      begun[ended]?.end();
      await turn();
    }
    expect(begun[2]?.place).toBe("a/other");
    expect(await Promise.all(created)).toEqual(["one!", "two!", "three!", "four!"]);
  });

  it("leaves out a request whose caller has gone", async () => {
    const { begun, creations } = start();
    const first = creations.create(at("a"), "one", calm);
    await turn();
    const gone = new AbortController();
    const second = Promise.allSettled([creations.create(at("a"), "two", gone.signal)]);
    gone.abort();
    begun[0]?.end();
    await first;
    expect((await second)[0]?.status).toBe("rejected");
    expect(begun).toHaveLength(1);
  });

  it("[V14.6] lets a thousand of an organizer wait, and others all the same", async () => {
    const { begun, creations } = start();
    void creations.create(at("a"), "first", calm);
    await turn();
    const waiting = Array.from({ length: 1000 }, (_, index) => creations.create(at("a"), String(index), calm));
    await expect(creations.create(at("a"), "late", calm)).rejects.toMatchObject({
      code: "too_many_creations",
      kind: "exhausted",
      retryAfterMs: 1000,
    });
    const other = creations.create(at("b"), "other", calm);
    await turn();
    begun[1]?.end();
    expect(await other).toBe("other!");
    for (let ended = 0; ended < begun.length; ended += 1) {
      begun[ended]?.end();
      await turn();
    }
    expect(await Promise.all(waiting)).toHaveLength(1000);
  });
});
