import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Fault } from "../fault.ts";
import { type Turn, Turns } from "./turns.ts";

const busy = () => new Fault("unavailable", "no_turn", "Come again soon.");

const { signal } = new AbortController();

/** Work whose beginning is written down and whose end is decided by the test. */
function piece(turns: Turns, begun: string[], name: string, { amount = 1, signal: until = signal } = {}) {
  let end = () => {};
  const ended = turns.run({ party: name[0] ?? "", amount, signal: until }, () => {
    begun.push(name);
    return new Promise<void>((resolve) => {
      end = resolve;
    });
  });
  return { ended, end: () => end() };
}

/** A party that comes, or the place of a turn that ends among those under way. */
type Step = string | number;

/** All orders in which so many requests of three parties can come and turns can end. */
function* interleavings(length: number, total: number): Generator<readonly Step[]> {
  if (length === 0) return yield [];
  for (const steps of interleavings(length - 1, total)) {
    for (const step of ["a", "b", "c", ...Array.from({ length: total }, (_, place) => place)]) yield [...steps, step];
  }
}

/**
 * Goes through these steps, and returns who waited for two turns: of a party of which a turn has begun or ended since the
 * first request of another one came, no other turn begins before that.
 */
async function findUnfair(steps: readonly Step[], limits: { readonly total: number; readonly each: number }) {
  const turns = new Turns({ ...limits, waitMs: 10_000, busy });
  const underWay: { readonly party: string; readonly turn: Turn }[] = [];
  const waiting: string[] = [];
  /** Those whose turns have begun or ended, for each party whose first request waits. */
  const seenBy = new Map<string, Set<string>>();
  const unfair: string[] = [];
  const leaving = new AbortController();
  const begin = (party: string, turn: Turn) => {
    seenBy.delete(party);
    waiting.splice(waiting.indexOf(party), 1);
    underWay.push({ party, turn });
    for (const [first, seen] of seenBy) if (seen.has(party)) unfair.push(`${first} waits for two turns of ${party}`);
    for (const seen of seenBy.values()) seen.add(party);
  };
  for (const step of steps) {
    if (typeof step === "number") {
      const [ended] = underWay.splice(step, 1);
      if (ended !== undefined) for (const seen of seenBy.values()) seen.add(ended.party);
      ended?.turn.end();
    } else {
      if (!waiting.includes(step) && !underWay.some(({ party }) => party === step)) seenBy.set(step, new Set());
      waiting.push(step);
      turns.take({ party: step, amount: 1, signal: leaving.signal }).then(
        (turn) => begin(step, turn),
        () => undefined,
      );
    }
    for (let ticks = 0; ticks < 4; ticks += 1) await Promise.resolve();
  }
  leaving.abort();
  return unfair;
}

describe("turns", () => {
  it("never give away more than there is, and no share twice", async () => {
    const turns = new Turns({ total: 8, each: 5, waitMs: 10_000, busy });
    const [under, seen] = [new Map<string, number>(), { total: 0, each: 0 }];
    await Promise.all(
      Array.from({ length: 300 }, (_, index) => {
        const [party, amount] = ["abc"[index % 3] ?? "", 1 + (index % 5)];
        return turns.run({ party, amount, signal }, async () => {
          under.set(party, (under.get(party) ?? 0) + amount);
          seen.total = Math.max(
            seen.total,
            Array.from(under.values()).reduce((sum, value) => sum + value, 0),
          );
          seen.each = Math.max(seen.each, ...under.values());
          await sleep(index % 3);
          under.set(party, (under.get(party) ?? 0) - amount);
        });
      }),
    );
    expect(seen).toEqual({ total: 8, each: 5 });
  });

  it("go round: a party that wants little waits for one turn of a party that wants much", async () => {
    const [turns, begun] = [new Turns({ total: 1, each: 1, waitMs: 10_000, busy }), [] as string[]];
    const pieces = new Map(["a1", "a2", "a3", "b1", "b2", "c1"].map((name) => [name, piece(turns, begun, name)]));
    for (let ended = 0; ended < pieces.size; ended += 1) {
      await expect.poll(() => begun).toHaveLength(ended + 1);
      pieces.get(begun.at(-1) ?? "")?.end();
    }
    expect(begun).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
  });

  it("are never two of another party before the first of one, whatever comes and ends in whatever order", async () => {
    for (const limits of [
      { total: 1, each: 1 },
      { total: 2, each: 1 },
      { total: 2, each: 2 },
    ]) {
      for (const steps of interleavings(5, limits.total))
        expect(await findUnfair(steps, limits), `${JSON.stringify(limits)} ${steps.join(" ")}`).toEqual([]);
    }
  });

  it("pass who waits for himself, and none who waits for others", async () => {
    const [turns, begun] = [new Turns({ total: 3, each: 2, waitMs: 10_000, busy }), [] as string[]];
    const first = piece(turns, begun, "a1", { amount: 2 });
    const own = piece(turns, begun, "a2", { amount: 2 });
    const large = piece(turns, begun, "b1", { amount: 2 });
    const small = piece(turns, begun, "c1");
    await sleep(1);
    expect(begun).toEqual(["a1"]);
    first.end();
    await first.ended;
    expect(begun).toEqual(["a1", "b1", "c1"]);
    large.end();
    await large.ended;
    expect(begun).toEqual(["a1", "b1", "c1", "a2"]);
    for (const { end } of [own, small]) end();
    await Promise.all([own.ended, small.ended]);
  });

  it("go on after failures", async () => {
    const turns = new Turns({ total: 1, each: 1, waitMs: 10_000, busy });
    const failing = turns.run({ party: "a", amount: 1, signal }, () => Promise.reject(new Error("no")));
    const next = turns.run({ party: "a", amount: 1, signal }, async () => "yes");
    await expect(failing).rejects.toThrow("no");
    expect(await next).toBe("yes");
  });

  it("are not waited for too long, nor by those who have gone", async () => {
    const [turns, begun] = [new Turns({ total: 1, each: 1, waitMs: 50, busy }), [] as string[]];
    const first = piece(turns, begun, "a1");
    const leaving = new AbortController();
    const gone = piece(turns, begun, "b1", { signal: leaving.signal });
    const late = piece(turns, begun, "c1");
    leaving.abort(new Error("gone"));
    await expect(gone.ended).rejects.toThrow("gone");
    await expect(late.ended).rejects.toMatchObject({ kind: "unavailable", code: "no_turn" });
    first.end();
    await first.ended;
    await expect(turns.run({ party: "d", amount: 1, signal: leaving.signal }, async () => 1)).rejects.toThrow("gone");
    expect(await turns.run({ party: "d", amount: 1, signal }, async () => 1)).toBe(1);
    expect(begun).toEqual(["a1"]);
  });

  it("count what they are after all, and end once", async () => {
    const [turns, begun] = [new Turns({ total: 10, each: 5, waitMs: 10_000, busy }), [] as string[]];
    const turn = await turns.take({ party: "a", amount: 5, signal });
    const next = piece(turns, begun, "a2", { amount: 4 });
    await sleep(1);
    expect(begun).toEqual([]);
    turn.resize(1);
    await sleep(1);
    expect(begun).toEqual(["a2"]);
    const last = piece(turns, begun, "a3");
    turn.end();
    turn.end();
    turn.resize(3);
    await sleep(1);
    expect(begun).toEqual(["a2", "a3"]);
    const tooMany = piece(turns, begun, "a4");
    await sleep(1);
    expect(begun).toEqual(["a2", "a3"]);
    for (const { end } of [next, last]) end();
    await sleep(1);
    expect(begun).toEqual(["a2", "a3", "a4"]);
    tooMany.end();
    await Promise.all([next.ended, last.ended, tooMany.ended]);
  });

  it("are refused to a party of which too many wait, and to no other", async () => {
    const [turns, begun] = [new Turns({ total: 1, each: 1, waitMs: 10_000, queue: 2, busy }), [] as string[]];
    const accepted = ["a1", "a2", "a3"].map((name) => piece(turns, begun, name));
    await expect(piece(turns, begun, "a4").ended).rejects.toMatchObject({ code: "no_turn" });
    const other = piece(turns, begun, "b1");
    for (const { end, ended } of [accepted[0], other, accepted[1], accepted[2]].filter((each) => each !== undefined)) {
      await sleep(1);
      end();
      await ended;
    }
    expect(begun).toEqual(["a1", "b1", "a2", "a3"]);
  });

  it("cost the same however many parties have had theirs while others waited", async () => {
    const turns = new Turns({ total: 1, each: 1, waitMs: 100_000, busy });
    let parties = 0;
    // As one turn ends, another party comes: someone is waiting all the time.
    const serve = async (count: number) => {
      const waiting = Array.from({ length: 20 }, () => turns.take({ party: `${parties++}`, amount: 1 }));
      const begun = performance.now();
      for (let served = 0; served < count; served += 1) {
        const turn = await waiting.shift();
        waiting.push(turns.take({ party: `${parties++}`, amount: 1 }));
        turn?.end();
      }
      const tookMs = performance.now() - begun;
      void Promise.all(waiting.map(async (each) => (await each).end()));
      return tookMs;
    };
    const first = turns.take({ party: "first", amount: 1 });
    (await first).end();
    await serve(1000);
    const fewMs = await serve(1000);
    await serve(20_000);
    const manyMs = Math.min(await serve(1000), await serve(1000), await serve(1000));
    expect(manyMs).toBeLessThan(20 * fewMs + 20);
  });
});
