const knownVersion = "2.2.4";

export interface RequestQueue {
  pending: readonly unknown[];
  throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
  scheduleCheckPendingRequests(): void;
}

export interface ConsumerGroup {
  maxWaitTime: number;
  fetch(nodeId: number): Promise<readonly { isEmpty(): boolean }[]>;
  paused(): readonly unknown[];
}

/** A consumer without messages for so long is idle. */
const idleAfterMs = 2000;

/** An idle consumer notices a rebalance or its own end this late; a message at once. */
const idleWaitMs = 1000;

/**
 * Stops polling on idle connections. Without this patch each connection polls its queue every millisecond (one to two
 * per cent of a core per connection), with a negative delay, which makes Node warn. A new request starts the polling
 * again.
 */
export function letIdleConnectionsRest({ version, prototype }: { version: string; prototype: RequestQueue }): void {
  const { scheduleCheckPendingRequests: schedule, checkPendingRequests: check } = prototype;
  requireKnown(version, {
    part: "request queue",
    isKnown: typeof schedule === "function" && typeof check === "function",
  });
  prototype.scheduleCheckPendingRequests = function () {
    if (this.throttleCheckTimeoutId !== null || this.pending.length === 0) return;
    const pauseMs = Math.max(10, this.throttledUntil - Date.now());
    this.throttleCheckTimeoutId = setTimeout(() => {
      this.throttleCheckTimeoutId = null;
      this.checkPendingRequests();
    }, pauseMs);
  };
}

/**
 * Raises the fetch wait of idle consumers. kafkajs asks for all partitions again after `maxWaitTime`, which costs each
 * side about a millisecond of CPU. A short wait is needed only while messages come: a partition that was paused for a
 * long delivery is fetched again only after the running fetch of the others.
 */
export function letIdleConsumersRest({ version, prototype }: { version: string; prototype: ConsumerGroup }): void {
  const { fetch, paused } = prototype;
  requireKnown(version, {
    part: "consumer group",
    isKnown: typeof fetch === "function" && typeof paused === "function",
  });
  const states = new WeakMap<ConsumerGroup, { readonly busyWaitMs: number; lastBusy: number }>();
  prototype.fetch = async function (nodeId) {
    const now = performance.now();
    const state = states.get(this) ?? { busyWaitMs: this.maxWaitTime, lastBusy: now };
    states.set(this, state);
    if (this.paused().length > 0) state.lastBusy = now;
    this.maxWaitTime = now - state.lastBusy < idleAfterMs ? state.busyWaitMs : Math.max(state.busyWaitMs, idleWaitMs);
    const batches = await fetch.call(this, nodeId);
    if (batches.some((batch) => !batch.isEmpty())) state.lastBusy = performance.now();
    return batches;
  };
}

function requireKnown(version: string, { part, isKnown }: { part: string; isKnown: boolean }): void {
  if (version === knownVersion && isKnown) return;
  throw new Error(
    `the ${part} of kafkajs ${version} is not the one that packages/engines/src/kafka/patch-kafkajs.ts replaces in part (${knownVersion}): see whether the idle rest there by themselves, and adapt or remove the replacement`,
  );
}
