import { Fault } from "@tessera/kit/fault";
import { describe, expect, it } from "vitest";
import { type BatcherOptions, behind, createBatcher, overtaken, type Undecided } from "./redeem-batcher.ts";

const here = new AbortController().signal;

/** A batcher whose batches a test answers when it likes. */
function heldBatches(changes: Partial<BatcherOptions<string, string>> = {}) {
  const batches: {
    items: readonly string[];
    answer(outcomes?: (string | Undecided)[]): void;
    fail(error: unknown): void;
  }[] = [];
  const failures: number[] = [];
  const batcher = createBatcher<string, string>({
    decide: (items) =>
      new Promise((resolve, reject) => {
        batches.push({
          items,
          answer: (outcomes = items.map((item) => item.toUpperCase())) => resolve(outcomes),
          fail: reject,
        });
      }),
    keyOf: (item) => item,
    failed: "failed",
    onFailure: (_error, items) => failures.push(items),
    lanes: 2,
    batchSize: 4,
    longestQueue: 20,
    patienceMs: 1000,
    ...changes,
  });
  return { batcher, batches, failures };
}

/** Lets everything go on that waits for nothing. */
const turn = async () => {
  for (let index = 0; index < 3; index += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe("gathering", () => {
  it("takes what arrives together as one batch, and waits for no more", async () => {
    const { batcher, batches } = heldBatches({ lanes: 1 });
    const results = Promise.all([batcher.submit(["a", "b"], here), batcher.submit(["c"], here)]);
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([["a", "b", "c"]]);
    batches[0]?.answer();
    expect(await results).toEqual([["A", "B"], ["C"]]);
  });

  it("fills batches with what arrives meanwhile", async () => {
    const { batcher, batches } = heldBatches({ lanes: 1 });
    const results = Array.from({ length: 10 }, (_, index) => batcher.submit([`i${index}`], here));
    for (let index = 0; index < 3; index += 1) {
      await turn();
      expect(batches.map(({ items }) => items.length)).toEqual([4, 4, 2].slice(0, index + 1));
      batches[index]?.answer();
    }
    expect((await Promise.all(results)).flat()).toEqual(Array.from({ length: 10 }, (_, index) => `I${index}`));
  });

  it("spreads keys over its lanes, and keeps the items of one key in one of them", async () => {
    const { batcher, batches } = heldBatches({
      batchSize: 100,
      longestQueue: 300,
      keyOf: (item) => item.split(" ")[0] ?? "",
    });
    const items = Array.from({ length: 200 }, (_, index) => `key${index % 50} ${index}`);
    const results = batcher.submit(items, here);
    await turn();
    expect(batches).toHaveLength(2);
    const keys = batches.map((batch) => new Set(batch.items.map((item) => item.split(" ")[0])));
    expect(Math.min(...keys.map(({ size }) => size))).toBeGreaterThan(12);
    expect([...(keys[0] ?? [])].filter((key) => keys[1]?.has(key))).toEqual([]);
    for (let index = 0; index < 4; index += 1) {
      batches[index]?.answer();
      await turn();
    }
    expect(await results).toEqual(items.map((item) => item.toUpperCase()));
  });

  it("refuses more than can wait", async () => {
    const { batcher } = heldBatches();
    void batcher.submit(
      Array.from({ length: 20 }, () => "x"),
      here,
    );
    await expect(batcher.submit(["y"], here)).rejects.toMatchObject({ kind: "exhausted", retryAfterMs: 1000 });
  });

  it("answers an empty call", async () => {
    expect(await heldBatches().batcher.submit([], here)).toEqual([]);
  });

  it("does not decide what nobody waits for any more", async () => {
    const { batcher, batches } = heldBatches({ lanes: 1 });
    const first = batcher.submit(["a"], here);
    await turn();
    const gone = new AbortController();
    const second = batcher.submit(["late"], gone.signal);
    const third = batcher.submit(["b"], here);
    gone.abort();
    batches[0]?.answer();
    await turn();
    expect(batches[1]?.items).toEqual(["b"]);
    batches[1]?.answer();
    expect(await Promise.all([first, second, third])).toEqual([["A"], ["failed"], ["B"]]);
  });
});

describe("deciding again", () => {
  it("puts what came too late before what arrived later", async () => {
    const { batcher, batches } = heldBatches({ lanes: 1 });
    const result = batcher.submit(["a", "b", "c"], here);
    await turn();
    const later = batcher.submit(["d"], here);
    batches[0]?.answer([overtaken, "B", behind]);
    await turn();
    expect(batches[1]?.items).toEqual(["a", "c", "d"]);
    batches[1]?.answer();
    expect([await result, await later]).toEqual([["A", "B", "C"], ["D"]]);
  });

  it("gives up on what is always overtaken", async () => {
    let rounds = 0;
    const { batcher } = heldBatches({
      patienceMs: 500,
      decide: async (items) => {
        rounds += 1;
        return items.map((item) => (item === "lost" ? overtaken : "done"));
      },
    });
    expect(await batcher.submit(["lost", "easy"], here)).toEqual(["failed", "done"]);
    expect(rounds).toBeGreaterThan(5);
    expect(rounds).toBeLessThan(30);
  });

  it("never gives up on what only waits its turn", async () => {
    const { batcher } = heldBatches({
      lanes: 1,
      batchSize: 200,
      longestQueue: 200,
      patienceMs: 0,
      decide: async ([, ...rest]) => ["done", ...rest.map((): Undecided => behind)],
    });
    const items = Array.from({ length: 200 }, (_, index) => `i${index}`);
    expect(await batcher.submit(items, here)).toEqual(items.map(() => "done"));
  });
});

describe("when a batch fails", () => {
  it("every item of it is tried alone, and only the bad one fails", async () => {
    const alone: string[] = [];
    const { batcher, failures } = heldBatches({
      lanes: 1,
      decide: async (items) => {
        if (items.includes("bad")) throw new TypeError("a bad item");
        if (items.length === 1) alone.push(...items);
        return items.map((item) => item.toUpperCase());
      },
    });
    expect(await batcher.submit(["a", "bad", "c"], here)).toEqual(["A", "failed", "C"]);
    expect(alone).toEqual(["a", "c"]);
    expect(failures).toEqual([3, 1]);
  });

  it("for want of a database, nothing is tried alone", async () => {
    const { batcher, batches, failures } = heldBatches({ lanes: 1 });
    const result = batcher.submit(["a", "b"], here);
    await turn();
    batches[0]?.fail(new Fault("unavailable", "database_unavailable", "the database cannot be reached"));
    expect(await result).toEqual(["failed", "failed"]);
    expect([batches.length, failures]).toEqual([1, [2]]);
  });

  it("the next batches go on", async () => {
    const { batcher, batches } = heldBatches({ lanes: 1, batchSize: 1 });
    const results = ["a", "b"].map((item) => batcher.submit([item], here));
    await turn();
    batches[0]?.fail(new Error("a bug"));
    await turn();
    batches[1]?.answer();
    expect(await Promise.all(results)).toEqual([["failed"], ["B"]]);
  });
});
