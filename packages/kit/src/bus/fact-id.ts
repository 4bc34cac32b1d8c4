import { hash } from "node:crypto";
import type { Topic } from "@tessera/protos/topic";
import { isUuid } from "@tessera/values";
import type { Fault } from "../fault.ts";
import { fault } from "../faults.ts";
import type { Delivery } from "./bus.ts";
import { header } from "./headers.ts";

/** The id of a fact, and the time that decides the day of its row in the inbox. */
export interface FactIdentity {
  readonly id: string;
  /** Microseconds since 1970: when it was written. */
  readonly at: number;
}

/** Derives the id of a fact from a text: the same text always gives the same id. */
export function deriveFactId(text: string): string {
  const hex = hash("sha256", text);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/**
 * Reads the identity of a fact from its message, and throws when the message has none. On topics from outside it may be
 * missing: then partition and offset of the message are its identity.
 */
export function identifyFact(topic: Pick<Topic<unknown>, "fromOutside">, message: Delivery): FactIdentity {
  const { headers, place } = message;
  const isNamed = headers[header.factId] !== undefined;
  if (topic.fromOutside !== undefined && place !== undefined && !isNamed) {
    const { offset, storedAt } = place;
    return { id: deriveFactId([message.topic, message.partition, offset, storedAt].join(" ")), at: storedAt };
  }
  // Lower case, as Postgres returns the ids of new facts.
  const [id, at] = [headers[header.factId]?.toLowerCase() ?? "", Number(headers[header.at])];
  if (!isUuid(id)) throw notAFact(message, header.factId);
  if (!isInstant(at)) throw notAFact(message, header.at);
  return { id, at };
}

/** The identity of any message. A dead letter needs one: a message without identity gets the hash of its content as id, and time 0. */
export function identifyAnything(topic: Pick<Topic<unknown>, "fromOutside">, message: Delivery): FactIdentity {
  try {
    return identifyFact(topic, message);
  } catch {
    const [id, at] = [message.headers[header.factId]?.toLowerCase() ?? "", Number(message.headers[header.at])];
    return { id: isUuid(id) ? id : hashOf(message), at: isInstant(at) ? at : 0 };
  }
}

function notAFact({ topic }: Delivery, missing: string): Fault {
  return fault("not_a_fact", `a message on ${topic} has no ${missing}`);
}

function hashOf({ topic, key, value }: Delivery): string {
  return deriveFactId(`${JSON.stringify([topic, key])} ${value === null ? "" : hash("sha256", value)}`);
}

function isInstant(value: number): boolean {
  return Number.isSafeInteger(value);
}
