import { arrivedScan } from "@tessera/admission/testing/decisions";
import { Fault } from "@tessera/kit/fault";
import { describe, expect, it, vi } from "vitest";
import { heldBatches, here, numbered, turn } from "../../testing/held-batches.ts";
import { inWord } from "../../testing/start-checkin.ts";
import { conflict, isOutcome } from "./decision.ts";

describe("[F2.7] the scans of an upload", () => {
  const upload = (
    { decided }: Pick<ReturnType<typeof heldBatches>, "decided">,
    items: readonly string[],
    organizer = "o",
  ) =>
    decided.submitTogether(
      items.map((item) => arrivedScan({ rawCode: item, nonce: item, organizer })),
      { signal: here, deadline: Number.POSITIVE_INFINITY },
    );

  it("are batches of their own, beside those of other scans, and may have one code", async () => {
    const { submit, decided, batches } = heldBatches();
    const uploaded = upload({ decided }, ["a", "a", "b"]);
    await turn();
    const single = submit(["a"], here);
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([["a", "a", "b"], ["a"]]);
    for (const { answer } of batches) answer();
    expect(await single).toEqual(["A"]);
    expect(await uploaded).toHaveLength(3);
  });

  it("are decided as far as one batch has room", async () => {
    const { decided, batches } = heldBatches();
    const uploaded = upload({ decided }, numbered(9));
    await turn();
    expect(batches.map(({ items }) => items)).toEqual([numbered(4)]);
    batches[0]?.answer();
    expect(await uploaded).toHaveLength(4);
  });

  it("begin while no other scan waits", async () => {
    const { submit, decided, batches } = heldBatches({ atOnce: 1 });
    const first = submit(["s1"], here);
    await turn();
    const others = submit(numbered(6), here);
    const uploaded = upload({ decided }, ["a"]);
    await turn();
    expect(batches).toHaveLength(1);
    for (const index of [0, 1]) {
      batches[index]?.answer();
      await turn();
    }
    expect(batches.map(({ items }) => items)).toEqual([["s1"], numbered(4), ["i4", "i5"], ["a"]]);
    for (const { answer } of batches.slice(2)) answer();
    await Promise.all([first, others, uploaded]);
  });

  it("begin at last, however many other scans wait", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const { submit, decided, batches } = heldBatches({ atOnce: 1 });
    const others = submit(numbered(9), here);
    await turn();
    const uploaded = upload({ decided }, ["a"]);
    vi.advanceTimersByTime(100);
    batches[0]?.answer();
    await turn();
    expect(batches[1]?.items).toEqual(["a"]);
    for (let index = 1; index < batches.length; index += 1) {
      batches[index]?.answer();
      await turn();
    }
    vi.useRealTimers();
    await Promise.all([others, uploaded]);
  });

  it("of organizers take turns", async () => {
    const { decided, batches } = heldBatches({ atOnce: 1 });
    const uploads = ["a1", "a2", "a3"].map((item) => upload({ decided }, [item], "a"));
    await turn();
    uploads.push(upload({ decided }, ["b1"], "b"));
    for (let index = 0; index < 4; index += 1) {
      batches[index]?.answer();
      await turn();
    }
    expect(batches.map(({ items }) => items.join())).toEqual(["a1", "b1", "a2", "a3"]);
    await Promise.all(uploads);
  });

  it("are refused where too many wait, of one organizer at half of that", async () => {
    const { decided, batches } = heldBatches({ atOnce: 1 });
    const uploads = Array.from({ length: 70 }, () => upload({ decided }, ["a"], "a"));
    const other = upload({ decided }, ["b"], "b");
    for (let index = 0; index < 66; index += 1) {
      await turn();
      batches[index]?.answer();
    }
    const told = (await Promise.all(uploads)).flat().map((each) => (isOutcome(each) ? inWord(each) : ""));
    expect(told.filter((word) => word === "crowded")).toHaveLength(6);
    expect(await other).toHaveLength(1);
  });

  it("count for the rate of all scans", async () => {
    const begun: number[] = [];
    const { decided } = heldBatches({
      mostPerSecond: 200,
      decide: async (items) => {
        begun.push(performance.now());
        return [...items];
      },
    });
    await Promise.all(Array.from({ length: 4 }, () => upload({ decided }, numbered(4))));
    expect((begun.at(-1) ?? 0) - (begun[0] ?? 0)).toBeGreaterThan(58);
  });

  it("are decided alone where their batch fails, up to the first without an outcome", async () => {
    const { decided, failures } = heldBatches({
      decide: async (items) => {
        if (items.includes("bad")) throw new TypeError("a bad item");
        return items.map((item) => (item === "late" ? conflict : item));
      },
    });
    const words = (await upload({ decided }, ["a", "bad", "late", "c"])).map((each) =>
      isOutcome(each) ? inWord(each) : typeof each === "symbol" && each.description,
    );
    expect(words).toEqual(["a", "undecided", "conflict", "queued behind"]);
    expect(failures).toEqual([4, 1]);
  });

  it("are undecided without a database, and where nobody waits for them", async () => {
    const { decided, batches } = heldBatches();
    const lost = upload({ decided }, ["a", "b"]);
    await turn();
    batches[0]?.fail(new Fault("unavailable", "database_unavailable", "the database cannot be reached"));
    const gone = new AbortController();
    const late = decided.submitTogether([arrivedScan()], { signal: gone.signal, deadline: Number.POSITIVE_INFINITY });
    gone.abort();
    const told = [...(await lost), ...(await late)];
    expect(told.map((each) => isOutcome(each) && inWord(each))).toEqual(["undecided", "undecided", "undecided"]);
    expect(batches).toHaveLength(1);
  });
});
