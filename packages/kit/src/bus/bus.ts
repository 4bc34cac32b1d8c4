/** What travels. A null value is a tombstone. */
export interface Message {
  readonly key: string;
  readonly value: Uint8Array | null;
  readonly headers: Readonly<Record<string, string>>;
  /** Set where the partition must not follow from the key. */
  readonly partition?: number;
}

export interface Delivery extends Message {
  readonly topic: string;
  readonly partition: number;
  /** Where it stands in its partition and since when (microseconds since 1970); a bus that stores nothing has no such place. */
  readonly place?: { readonly offset: string; readonly storedAt: number };
}

/** What a group of this process has still to accept of a topic. */
export interface Backlog {
  readonly group: string;
  readonly topic: string;
  readonly messages: number;
}

export interface Subscription {
  readonly group: string;
  readonly topic: string;
  /** Resolves when every message is committed or dead-lettered; only then is it acknowledged. It retries by itself and rejects only when closing. */
  deliver(messages: readonly Delivery[], signal: AbortSignal): Promise<void>;
}

/**
 * The port that facts travel through.
 *
 * Promise: messages of one key reach each group in order and at least once.
 * `publish` resolves when the bus is answerable for the messages; the relay
 * deletes its rows then, and not before.
 */
export interface Bus {
  /**
   * Takes a topic over: publications of other processes are refused from now on, also those under way. A relay claims a
   * topic when it begins to lead and after each failed publication, before it reads what it will publish; then nothing
   * that another one read earlier can land behind it. Absent where nothing outlives its process.
   */
  claim?(topic: string): Promise<void>;
  publish(topic: string, messages: readonly Message[]): Promise<void>;
  subscribe(subscription: Subscription): Promise<void>;
  /** How many partitions a topic has, for markers. */
  partitions(topic: string): Promise<number>;
  /** What the groups that read through this bus have still to accept, in partitions read by other processes too. */
  backlog(): Promise<readonly Backlog[]>;
  close(): Promise<void>;
}
