import { createRequire } from "node:module";
import { afterEach, describe, expect, it, vi } from "vitest";
// Applies the patches as it is loaded.
import "./client.ts";
import { letIdleConnectionsRest, letIdleConsumersRest } from "./patch-kafkajs.ts";

interface Queue {
  pending: unknown[];
  readonly inflight: Map<number, unknown>;
  throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
  canSendSocketRequestImmediately(): boolean;
  sendSocketRequest(request: unknown): void;
  destroy(): void;
}

const load = createRequire(import.meta.url);
const RequestQueue = load("kafkajs/src/network/requestQueue/index.js") as new (options: object) => Queue;

function makeQueue(): Queue {
  return new RequestQueue({ maxInFlightRequests: 1, logger: { debug() {}, warn() {} } });
}

it("an idle connection asks for no timer, and a waiting request is sent", async () => {
  const queue = makeQueue();
  expect(queue.throttleCheckTimeoutId).toBeNull();
  queue.checkPendingRequests();
  expect(queue.throttleCheckTimeoutId).toBeNull();

  const sent = Promise.withResolvers<unknown>();
  queue.sendSocketRequest = sent.resolve;
  queue.throttledUntil = Date.now() + 30;
  const request = { correlationId: 1 };
  queue.pending.push(request);
  queue.checkPendingRequests();
  expect(queue.pending).toEqual([request]);
  expect(queue.throttleCheckTimeoutId).not.toBeNull();
  expect(await sent.promise).toBe(request);
  expect(Date.now()).toBeGreaterThanOrEqual(queue.throttledUntil);
  await expect.poll(() => queue.throttleCheckTimeoutId).toBeNull();
  queue.destroy();
});

/** A consumer whose pauses and messages a test sets, and which records its fetch waits. */
function makeGroup() {
  const waits: number[] = [];
  const next = { messages: 0, paused: 0 };
  const prototype = {
    maxWaitTime: 250,
    paused: () => Array.from({ length: next.paused }),
    async fetch() {
      waits.push(this.maxWaitTime);
      return [{ isEmpty: () => true }, { isEmpty: () => next.messages === 0 }];
    },
  };
  letIdleConsumersRest({ version: "2.2.4", prototype });
  return { waits, next, fetch: () => prototype.fetch() };
}

describe("a consumer without messages", () => {
  afterEach(() => void vi.useRealTimers());

  it("lets the brokers wait longer, until a message comes or a partition is paused", async () => {
    vi.useFakeTimers();
    const { waits, next, fetch } = makeGroup();
    const fetchAfter = async (ms: number, what: Partial<typeof next> = {}) => {
      vi.advanceTimersByTime(ms);
      Object.assign(next, { messages: 0, paused: 0 }, what);
      await fetch();
    };
    await fetchAfter(0);
    await fetchAfter(1900);
    expect(waits.splice(0)).toEqual([250, 250]);
    await fetchAfter(200, { messages: 3 });
    await fetchAfter(1900);
    expect(waits.splice(0)).toEqual([1000, 250]);
    await fetchAfter(200);
    expect(waits.splice(0)).toEqual([1000]);
    await fetchAfter(5000, { paused: 1 });
    await fetchAfter(1900);
    await fetchAfter(200);
    expect(waits.splice(0)).toEqual([250, 250, 1000]);
  });

  it("does not change how long another one waits", async () => {
    vi.useFakeTimers();
    const [idle, busy] = [makeGroup(), makeGroup()];
    for (const group of [idle, busy]) await group.fetch();
    vi.advanceTimersByTime(2500);
    busy.next.messages = 1;
    for (const group of [idle, busy, idle, busy]) await group.fetch();
    expect(idle.waits).toEqual([250, 1000, 1000]);
    expect(busy.waits).toEqual([250, 1000, 250]);
  });
});

it("another kafkajs than the known one is refused at the start", () => {
  const queue = { pending: [], throttledUntil: 0, throttleCheckTimeoutId: null };
  const whole = { ...queue, checkPendingRequests() {}, scheduleCheckPendingRequests() {} };
  expect(() => letIdleConnectionsRest({ version: "2.2.5", prototype: { ...whole } })).toThrow(/kafkajs 2\.2\.5/);
  const changed = { ...whole, checkPendingRequests: undefined as unknown as () => void };
  expect(() => letIdleConnectionsRest({ version: "2.2.4", prototype: changed })).toThrow(
    /request queue.*patch-kafkajs\.ts/,
  );
  const group = { maxWaitTime: 1, fetch: async () => [], paused: () => [] };
  expect(() => letIdleConsumersRest({ version: "2.2.5", prototype: group })).toThrow(/kafkajs 2\.2\.5/);
  const other = { ...group, paused: undefined as unknown as () => [] };
  expect(() => letIdleConsumersRest({ version: "2.2.4", prototype: other })).toThrow(
    /consumer group.*patch-kafkajs\.ts/,
  );
});
