import { createRequire } from "node:module";
import { expect, it } from "vitest";
import { letIdleConnectionsRest } from "./kafka-client.ts";

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

it("another kafkajs than the known one is refused at the start", () => {
  const queue = { pending: [], throttledUntil: 0, throttleCheckTimeoutId: null };
  const whole = { ...queue, checkPendingRequests() {}, scheduleCheckPendingRequests() {} };
  expect(() => letIdleConnectionsRest({ version: "2.2.5", prototype: { ...whole } })).toThrow(/kafkajs 2\.2\.5/);
  const changed = { ...whole, checkPendingRequests: undefined as unknown as () => void };
  expect(() => letIdleConnectionsRest({ version: "2.2.4", prototype: changed })).toThrow(/kafka-client\.ts/);
});
