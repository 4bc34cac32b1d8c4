import type { Dedicated } from "../pg/database.ts";
import type { Message } from "./bus.ts";

/** A lane of a topic: the relay publishes one batch of it at a time. */
export interface TopicLane {
  readonly topic: string;
  readonly lane: number;
}

/** Messages to publish together, and what follows. */
export interface Batch extends TopicLane {
  readonly messages: readonly Message[];
  /** Called when the bus has them. */
  done(connection: Dedicated): Promise<void>;
  /** Called when the bus has refused them for good. */
  refused(connection: Dedicated, error: unknown): Promise<void>;
}

export const nameOf = ({ topic, lane }: TopicLane) => `${topic} ${lane}`;
