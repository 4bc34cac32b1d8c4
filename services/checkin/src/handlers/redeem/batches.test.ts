import { Fault } from "@tessera/kit/fault";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { heldBatches, here, numbered, turn } from "../../testing/held-batches.ts";
import { conflict, queuedBehind } from "./decision.ts";

describe("batching", () => {
  it("decides scans that arrive together as one batch, without waiting for more", async () => {
    const { submit, batches } = heldBatches({ atOnce: 1 });
    const results = Promise.all([submit(["a", "b"], here), submit(["c"], here)]);
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([["a", "b", "c"]]);
    batches[0]?.answer();
    expect(await results).toEqual([["A", "B"], ["C"]]);
  });

  it("fills the next batch with scans that arrive meanwhile", async () => {
    const { submit, batches } = heldBatches({ atOnce: 1 });
    const results = Array.from({ length: 10 }, (_, index) => submit([`i${index}`], here));
    for (let index = 0; index < 3; index += 1) {
      await turn();
      expect(batches.map(({ items }) => items.length)).toEqual([4, 4, 2].slice(0, index + 1));
      batches[index]?.answer();
    }
    expect((await Promise.all(results)).flat()).toEqual(Array.from({ length: 10 }, (_, index) => `I${index}`));
  });

  it("begins a second batch for many scans, and for fewer when the first one takes long", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { submit, batches } = heldBatches({ worthAnother: 3 });
    const results = [submit(["a"], here)];
    await turn();
    results.push(submit(["b", "c"], here));
    await turn();
    expect(batches).toHaveLength(1);
    results.push(submit(["d"], here));
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([["a"], ["b", "c", "d"]]);
    batches[1]?.answer();
    results.push(submit(["e"], here));
    await turn();
    expect(batches).toHaveLength(2);
    vi.runOnlyPendingTimers();
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([["a"], ["b", "c", "d"], ["e"]]);
    batches[0]?.answer();
    batches[2]?.answer();
    expect((await Promise.all(results)).flat()).toEqual(["A", "B", "C", "D", "E"]);
  });

  it("begins a second batch for any scan beside a small one", async () => {
    const { submit, batches } = heldBatches({ worthAnother: 8 });
    const results: Promise<unknown>[] = [];
    for (const item of ["a", "b"]) {
      results.push(submit([item], here));
      await turn();
    }
    expect(batches.map(({ items }) => items)).toEqual([["a"], ["b"]]);
    for (const batch of batches) batch.answer();
    await Promise.all(results);
  });

  it("never decides two scans of one code and list at the same time", async () => {
    const { submit, batches } = heldBatches();
    const results = submit(["hot 1", "a", "hot 2", "b"], here);
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([["hot 1", "a", "b"]]);
    const later = submit(["hot 3", "c"], here);
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([["hot 1", "a", "b"], ["c"]]);
    batches[1]?.answer();
    await turn();
    expect(batches).toHaveLength(2);
    batches[0]?.answer();
    await turn();
    expect(batches[2]?.items).toEqual(["hot 2"]);
    batches[2]?.answer();
    await turn();
    batches[3]?.answer();
    expect([await results, await later]).toEqual([
      ["HOT 1", "A", "HOT 2", "B"],
      ["HOT 3", "C"],
    ]);
  });

  it("decides no more in a second than it may, in small batches", async () => {
    const begun: { readonly at: number; readonly scans: number }[] = [];
    const { submit } = heldBatches({
      batchSize: 64,
      mostPerSecond: 500,
      longestQueue: 100,
      decide: async (items) => {
        begun.push({ at: performance.now(), scans: items.length });
        return [...items];
      },
    });
    await submit(numbered(40), here);
    expect(begun.map(({ scans }) => scans)).toEqual([10, 10, 10, 10]);
    const [first, last] = [begun[0]?.at ?? 0, begun.at(-1)?.at ?? 0];
    expect(last - first).toBeGreaterThan(58);
  });

  it("decides fewer scans on several lists in a batch and in a second, as each costs more", async () => {
    const begun: { readonly at: number; readonly scans: number }[] = [];
    const { submit } = heldBatches({
      mostPerSecond: 200,
      lists: 16,
      decide: async (items) => {
        begun.push({ at: performance.now(), scans: items.length });
        return [...items];
      },
    });
    await submit(numbered(6), here);
    // Each weighs as four on one list, which are all that 20 ms allow.
    expect(begun.map(({ scans }) => scans)).toEqual([1, 1, 1, 1, 1, 1]);
    expect((begun.at(-1)?.at ?? 0) - (begun[0]?.at ?? 0)).toBeGreaterThan(98);
  });

  it("waits for its next batch with one timer, however many scans arrive meanwhile", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { submit } = heldBatches({ mostPerSecond: 1, decide: async (items) => [...items] });
    expect(await submit(["a"], here)).toEqual(["a"]);
    for (const item of ["b", "c", "d"]) {
      void submit([item], here);
      await turn();
    }
    expect(vi.getTimerCount()).toBe(1);
  });

  it("refuses only the scans for which there is no room", async () => {
    const { submit, batches } = heldBatches({ atOnce: 1 });
    const own = submit(numbered(12), here);
    const other = submit(["other"], here, "other");
    await turn();
    for (let index = 0; index < batches.length; index += 1) {
      batches[index]?.answer();
      await turn();
    }
    expect((await own).slice(9)).toEqual(["I9", "crowded", "crowded"]);
    expect(await other).toEqual(["OTHER"]);
  });

  it("answers an empty call", async () => {
    expect(await heldBatches().submit([], here)).toEqual([]);
  });

  it("does not decide a scan after its caller went away", async () => {
    const { submit, batches } = heldBatches({ atOnce: 1 });
    const first = submit(["a"], here);
    await turn();
    const aborted = new AbortController();
    const second = submit(["late"], aborted.signal);
    const third = submit(["b"], here);
    aborted.abort();
    batches[0]?.answer();
    await turn();
    expect(batches[1]?.items).toEqual(["b"]);
    batches[1]?.answer();
    expect(await Promise.all([first, second, third])).toEqual([["A"], ["undecided"], ["B"]]);
  });
});

it("[C3.48] does not decide a scan after its deadline, though no timer has told so", async () => {
  const { submit, batches } = heldBatches({ atOnce: 1 });
  const deadline = Date.now() + 1000;
  const first = submit(["a"], here, "o", deadline);
  await turn();
  const second = submit(["late"], here, "o", deadline);
  expect(batches[0]?.isAwaited(0)).toBe(true);
  vi.useFakeTimers({ toFake: ["Date"], now: deadline });
  expect(batches[0]?.isAwaited(0)).toBe(false);
  batches[0]?.answer();
  await turn();
  expect(batches).toHaveLength(1);
  vi.useRealTimers();
  expect(await Promise.all([first, second])).toEqual([["A"], ["undecided"]]);
});

describe("deciding again", () => {
  it("retries a scan with a conflict before scans that arrived later", async () => {
    const { submit, batches } = heldBatches({ atOnce: 1 });
    const result = submit(["a", "b", "c"], here);
    await turn();
    const later = submit(["d"], here);
    batches[0]?.answer([conflict, "B", queuedBehind]);
    await turn();
    expect(batches[1]?.items).toEqual(["a", "c", "d"]);
    batches[1]?.answer();
    expect([await result, await later]).toEqual([["A", "B", "C"], ["D"]]);
  });

  it("leaves a scan undecided that always meets a conflict, when the patience of its caller ends", async () => {
    let rounds = 0;
    const { submit } = heldBatches({
      patienceMs: 500,
      decide: async (items) => {
        rounds += 1;
        return items.map((item) => (item === "lost" ? conflict : "done"));
      },
    });
    expect(await submit(["lost", "easy"], here)).toEqual(["undecided", "done"]);
    expect(rounds).toBeGreaterThan(5);
    expect(rounds).toBeLessThan(30);
  });
});

describe("scans of one code", () => {
  it("are decided one in a batch, so that the scans of other tickets go on", async () => {
    const { submit, batches } = heldBatches({ atOnce: 1 });
    const results = submit(["hot 1", "hot 2", "a", "hot 3", "b", "c"], here);
    const expected = [["hot 1", "a", "b", "c"], ["hot 2"], ["hot 3"]];
    for (const [index, items] of expected.entries()) {
      await turn();
      expect(batches[index]?.items).toEqual(items);
      batches[index]?.answer();
    }
    expect(await results).toEqual(["HOT 1", "HOT 2", "A", "HOT 3", "B", "C"]);
  });

  it("are undecided when they have waited for each other for too long; one that is under way is not", async () => {
    const { submit, batches } = heldBatches({ atOnce: 1, patienceMs: 20 });
    const first = submit(["hot 1"], here);
    const second = submit(["hot 2"], here);
    await turn();
    expect(await second).toEqual(["undecided"]);
    batches[0]?.answer();
    expect(await first).toEqual(["HOT 1"]);
    await turn();
    expect(batches).toHaveLength(1);
  });

  it("are refused beyond 64, and then have room again", async () => {
    const { submit, batches } = heldBatches({ atOnce: 1, longestQueue: 1000 });
    const results = submit(
      numbered(66).map((item) => `hot ${item}`),
      here,
    );
    const other = submit(["a"], here);
    await turn();
    for (let index = 0; index < batches.length; index += 1) {
      batches[index]?.answer();
      await turn();
    }
    expect((await results).slice(62)).toEqual(["HOT I62", "HOT I63", "crowded", "crowded"]);
    expect(await other).toEqual(["A"]);
    const late = submit(["hot late"], here);
    await turn();
    batches.at(-1)?.answer();
    expect(await late).toEqual(["HOT LATE"]);
  });
});

describe("organizers", () => {
  it("take turns in a batch", async () => {
    const { submit, batches } = heldBatches({ atOnce: 1 });
    const flood = submit(numbered(9), here);
    await turn();
    const others = [submit(["b1", "b2"], here, "b"), submit(["c1"], here, "c")];
    batches[0]?.answer();
    await turn();
    expect(batches[1]?.items).toEqual(["b1", "c1", "i4", "b2"]);
    for (let index = 1; index < batches.length; index += 1) {
      batches[index]?.answer();
      await turn();
    }
    expect(await Promise.all(others)).toEqual([["B1", "B2"], ["C1"]]);
    expect(await flood).toHaveLength(9);
  });
});

describe("when a batch fails", () => {
  it("every scan of it is retried alone, and only the bad one fails", async () => {
    const alone: string[] = [];
    const { submit, failures } = heldBatches({
      atOnce: 1,
      decide: async (items) => {
        if (items.includes("bad")) throw new TypeError("a bad item");
        if (items.length === 1) alone.push(...items);
        return items.map((item) => item.toUpperCase());
      },
    });
    expect(await submit(["a", "bad", "c"], here)).toEqual(["A", "undecided", "C"]);
    expect(alone).toEqual(["a", "c"]);
    expect(failures).toEqual([3, 1]);
  });

  it("without a database, no scan is retried alone", async () => {
    const { submit, batches, failures } = heldBatches({ atOnce: 1 });
    const result = submit(["a", "b"], here);
    await turn();
    batches[0]?.fail(new Fault("unavailable", "database_unavailable", "the database cannot be reached"));
    expect(await result).toEqual(["undecided", "undecided"]);
    expect([batches.length, failures]).toEqual([1, [2]]);
  });

  it("the next batches go on", async () => {
    const { submit, batches } = heldBatches({ atOnce: 1, batchSize: 1 });
    const results = ["a", "b"].map((item) => submit([item], here));
    await turn();
    batches[0]?.fail(new Error("a bug"));
    await turn();
    batches[1]?.answer();
    expect(await Promise.all(results)).toEqual([["undecided"], ["B"]]);
  });
});
