import { setTimeout as sleep } from "node:timers/promises";
import type { Delivery } from "@tessera/kit/bus/bus";
import { describe, expect, it } from "vitest";
import { createPartitionQueue } from "./partition-queue.ts";

function fetched(first: number, count: number) {
  const deliveries: Delivery[] = Array.from({ length: count }, (_, index) => ({
    topic: "t",
    partition: 0,
    key: "k",
    value: null,
    headers: {},
    place: { offset: String(first + index), storedAt: 0 },
  }));
  return { deliveries, next: String(first + count) };
}

const offsetsOf = (deliveries: readonly Delivery[]) => deliveries.map(({ place }) => Number(place?.offset));

function queueOf(deliver: (deliveries: readonly Delivery[], signal: AbortSignal) => Promise<void>) {
  const closing = new AbortController();
  const commits: string[] = [];
  const refusals: unknown[] = [];
  const made = createPartitionQueue({
    deliver,
    commit: async (offset) => void commits.push(offset),
    onRefusal: (error) => refusals.push(error),
    closing: closing.signal,
  });
  return { ...made, closing, commits, refusals };
}

describe("the queue of a partition", () => {
  it("delivers in order and in parts, and commits behind each", async () => {
    const received: number[][] = [];
    const { add, commits } = queueOf(async (deliveries) => {
      await sleep(1);
      received.push(offsetsOf(deliveries));
    });
    expect(await Promise.all([add(fetched(0, 1200)), add(fetched(1201, 2))])).toEqual([true, true]);
    expect(received.map(({ length }) => length)).toEqual([500, 500, 200, 2]);
    expect(received.flat()).toEqual([...received.flat()].sort((a, b) => a - b));
    // Between the two was a control record.
    expect(commits).toEqual(["500", "1000", "1200", "1203"]);
  });

  it("repeats what is refused before anything later", async () => {
    const received: number[] = [];
    const { add, commits, refusals } = queueOf(async (deliveries) => {
      received.push(...offsetsOf(deliveries));
      if (received.length < 3) throw new Error("not now");
    });
    await Promise.all([add(fetched(0, 1)), add(fetched(1, 1))]);
    expect(received).toEqual([0, 0, 0, 1]);
    expect(refusals).toHaveLength(2);
    expect(commits).toEqual(["1", "2"]);
  });

  it("when reset tells the delivery under way, drops what waits, and begins again only when that delivery has ended", async () => {
    const events: string[] = [];
    const { add, reset, commits } = queueOf(async (deliveries, signal) => {
      const [offset] = offsetsOf(deliveries);
      events.push(`begin ${offset}`);
      if (offset === 0) await new Promise((resolve) => signal.addEventListener("abort", resolve));
      await sleep(5);
      events.push(`end ${offset}`);
    });
    const dropped = [add(fetched(0, 1)), add(fetched(1, 1))];
    await sleep(5);
    reset();
    const kept = add(fetched(5, 1));
    expect(await Promise.all([...dropped, kept])).toEqual([false, false, true]);
    expect(events).toEqual(["begin 0", "end 0", "begin 5", "end 5"]);
    // The partition has another owner now.
    expect(commits).toEqual(["6"]);
  });

  it("when closing commits what is still accepted, and begins nothing more", async () => {
    const { add, closing, commits, idle } = queueOf(
      (_deliveries, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
    );
    const [first, second] = [add(fetched(0, 1)), add(fetched(1, 1))];
    await sleep(5);
    closing.abort();
    await idle();
    expect(await Promise.all([first, second])).toEqual([true, false]);
    expect(commits).toEqual(["1"]);
  });
});
