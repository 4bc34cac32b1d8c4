import { setImmediate as nextTurn } from "node:timers/promises";
import type { Dedicated } from "../pg/database.ts";
import type { Log } from "../telemetry/log.ts";
import type { Alarm } from "../waiting/alarm.ts";
import { backoff } from "../waiting/backoff.ts";
import type { Bus } from "./bus.ts";
import { endsRebuild, isRefusal, requirePublished } from "./refused-facts.ts";
import { type Batch, nameOf, type TopicLane } from "./relay-batch.ts";

interface PublicationsOptions {
  readonly schema: string;
  readonly bus: Bus;
  readonly log: Log;
  /** Wakes the relay, which reads the outbox again. */
  readonly alarm: Alarm;
  /** The most rows of a batch. */
  readonly batchSize: number;
  /** The relay waits no longer for a publication. */
  readonly waitMs: number;
  onBatch(facts: number): void;
}

const pauses = { firstMs: 200, longestMs: 5000 };

/**
 * The publications of a relay, at most one at a time for each lane of a topic. One may go on after the connection of its lead, and the
 * lead with it, is lost. So these outlive a lead.
 */
export class Publications {
  readonly #options: PublicationsOptions;
  readonly #held = new Map<string, TopicLane>();
  readonly #underWay = new Set<Promise<void>>();
  /** Topics that were claimed since this lead began and since their last failed publication. */
  readonly #claimed = new Set<string>();
  /** By the connection of a lead: aborted when it is lost. */
  readonly #leads = new WeakMap<Dedicated, AbortSignal>();
  readonly #failures = new Map<string, number>();
  /** The number of rows of the next batch, by lane; without it a whole batch. */
  readonly #sizes = new Map<string, number>();
  #begun: Promise<void>[] = [];
  /** Topics that may have refused facts. */
  #refusing = new Set<string>();
  #tookMs = 0;

  constructor(options: PublicationsOptions) {
    this.#options = options;
  }

  /** A connection leads from now on, until the signal aborts. These topics may have refused facts. */
  beginLead(connection: Dedicated, signal: AbortSignal, refusing: readonly string[]): void {
    this.#claimed.clear();
    this.#leads.set(connection, signal);
    this.#refusing = new Set(refusing);
    this.#begun = [];
  }

  /** Begins one. The lane of the batch must be free. */
  begin(connection: Dedicated, batch: Batch): void {
    this.#held.set(nameOf(batch), batch);
    const moving = this.#move(connection, batch).finally(() => this.#underWay.delete(moving));
    this.#underWay.add(moving);
    this.#begun.push(moving);
  }

  isHeld(lane: TopicLane): boolean {
    return this.#held.has(nameOf(lane));
  }

  heldLanes(topic: string): Set<number> {
    return new Set([...this.#held.values()].filter((lane) => lane.topic === topic).map(({ lane }) => lane));
  }

  sizeOf(lane: TopicLane): number {
    return this.#sizes.get(nameOf(lane)) ?? this.#options.batchSize;
  }

  mayBeRefused(topic: string): boolean {
    return this.#refusing.has(topic);
  }

  get isAnyRefused(): boolean {
    return this.#refusing.size > 0;
  }

  /** The time of the last publication. */
  get tookMs(): number {
    return this.#tookMs;
  }

  /** The publications that began since the last call. */
  takeBegun(): Promise<void>[] {
    const begun = this.#begun;
    this.#begun = [];
    return begun;
  }

  async untilDone(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async #move(connection: Dedicated, batch: Batch): Promise<void> {
    const { bus, alarm, waitMs, onBatch } = this.#options;
    const { topic } = batch;
    const started = performance.now();
    try {
      if (bus.claim !== undefined && !this.#claimed.has(topic)) {
        await bus.claim(topic);
        this.#claimed.add(topic);
        // Another process may have published these rows before the claim: they are read again.
        alarm.ring();
        return;
      }
      const [first] = batch.messages;
      if (first !== undefined && endsRebuild(first) && this.mayBeRefused(topic))
        await requirePublished(connection, topic, first);
      const publishing = performance.now();
      await bus.publish(topic, batch.messages);
      this.#tookMs = performance.now() - publishing;
      await batch.done(connection);
      this.#grow(batch);
      onBatch(batch.messages.length);
    } catch (error) {
      this.#claimed.delete(topic);
      if (alarm.stopped) return;
      await this.#recover(connection, batch, error);
    } finally {
      this.#held.delete(nameOf(batch));
      if (performance.now() - started > waitMs) alarm.ring();
    }
  }

  /** Never rejects: a connection that is lost meanwhile ends the lead. */
  async #recover(connection: Dedicated, batch: Batch, error: unknown): Promise<void> {
    const { schema, log, alarm } = this.#options;
    const { topic } = batch;
    // The loss of a connection is reported after its statements have failed.
    await nextTurn();
    // The failure says nothing about the lane, and the next lead reads its rows again.
    if (this.#leads.get(connection)?.aborted === true) return;
    try {
      if (isRefusal(error) && batch.messages.length === 1) {
        this.#refusing.add(topic);
        await batch.refused(connection, error);
      } else this.#halve(batch);
      if (isRefusal(error)) {
        alarm.ring();
        return;
      }
    } catch (failure) {
      log.warn("a refused fact is waiting: it could not be parked", { schema, error: failure });
    }
    log.warn("facts are waiting: the relay could not move them", { schema, topic, error });
    await alarm.pause(backoff(pauses, this.#countFailure(batch)));
  }

  #countFailure(lane: TopicLane): number {
    const failures = (this.#failures.get(nameOf(lane)) ?? 0) + 1;
    this.#failures.set(nameOf(lane), failures);
    return failures;
  }

  #halve(batch: Batch): void {
    this.#sizes.set(nameOf(batch), Math.max(1, Math.floor(batch.messages.length / 2)));
  }

  #grow(lane: TopicLane): void {
    const name = nameOf(lane);
    const size = this.#sizes.get(name);
    this.#failures.delete(name);
    if (size !== undefined && size * 2 < this.#options.batchSize) this.#sizes.set(name, size * 2);
    else this.#sizes.delete(name);
  }
}
