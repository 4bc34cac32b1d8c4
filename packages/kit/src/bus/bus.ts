/** A message. A null value is a tombstone. */
export interface Message {
  readonly key: string;
  readonly value: Uint8Array | null;
  readonly headers: Readonly<Record<string, string>>;
  /** Set when the key must not decide the partition. */
  readonly partition?: number;
}

export interface Delivery extends Message {
  readonly topic: string;
  readonly partition: number;
  /** Its offset in the partition, and when it was stored (microseconds since 1970). A bus that stores nothing has none. */
  readonly place?: { readonly offset: string; readonly storedAt: number };
}

/** The messages of a topic that a group of this process has not accepted. */
export interface Backlog {
  readonly group: string;
  readonly topic: string;
  readonly messages: number;
}

export interface Subscription {
  readonly group: string;
  readonly topic: string;
  /** Resolves when every message is committed or dead-lettered; only then is it acknowledged. It retries by itself, and rejects only at the end. */
  deliver(messages: readonly Delivery[], signal: AbortSignal): Promise<void>;
}

/**
 * The port for facts.
 *
 * Promise: each group gets the messages of one key in order and at least once. `publish` resolves when the bus has stored
 * or delivered the messages. Only then does the relay delete its rows.
 */
export interface Bus {
  /**
   * A bus that delivers before it acknowledges has lanes, a power of two: publications to different partitions do not
   * wait for each other, so a slow consumer delays one partition. Their publisher names the partition of each message.
   * Without lanes, a topic has one publication at a time.
   */
  readonly lanes?: number;
  /**
   * Claims a topic: from now on the publications of other processes are refused, also those under way. A relay claims a
   * topic when it begins to lead and after each failed publication, before it reads the rows that it will publish. So no
   * publication of an earlier leader can come after its own. A bus within one process has no claims.
   */
  claim?(topic: string): Promise<void>;
  /** Rejects with `message_too_large` or `message_refused` when it will never accept one of the messages. */
  publish(topic: string, messages: readonly Message[]): Promise<void>;
  subscribe(subscription: Subscription): Promise<void>;
  /** How many partitions a topic has, for markers. */
  partitions(topic: string): Promise<number>;
  /** The messages that the groups of this bus have not accepted, in partitions of other processes too. */
  backlog(): Promise<readonly Backlog[]>;
  close(): Promise<void>;
}
