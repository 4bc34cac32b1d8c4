import { hash } from "node:crypto";
import type { Topic } from "@tessera/protos/topic";
import { isUuid } from "@tessera/values";
import type { Fault } from "../fault.ts";
import { fault } from "../faults.ts";
import type { Delivery } from "./bus.ts";
import { header } from "./headers.ts";

/** What tells a fact apart, and the day that it is remembered under. */
export interface FactIdentity {
  readonly id: string;
  /** Microseconds since 1970: when it was written. */
  readonly at: number;
}

/** Derives a fact's id from what it tells: the same text gives the same id, wherever and whenever. */
export function deriveFactId(text: string): string {
  const hex = hash("sha256", text);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/**
 * Finds out which fact a message carries; throws where it does not say. What comes from outside need not say: it is
 * known by the place it is stored at.
 */
export function identifyFact(topic: Pick<Topic<unknown>, "fromOutside">, message: Delivery): FactIdentity {
  const { headers, place } = message;
  const isNamed = headers[header.factId] !== undefined;
  if (topic.fromOutside !== undefined && place !== undefined && !isNamed) {
    const { offset, storedAt } = place;
    return { id: deriveFactId([message.topic, message.partition, offset, storedAt].join(" ")), at: storedAt };
  }
  // As Postgres writes it, whose answer tells which facts are new.
  const [id, at] = [headers[header.factId]?.toLowerCase() ?? "", Number(headers[header.at])];
  if (!isUuid(id)) throw notAFact(message, header.factId);
  if (!isInstant(at)) throw notAFact(message, header.at);
  return { id, at };
}

/** Names what is no fact of ours by what it is, at no particular time: it must be parked, too. */
export function identifyAnything(topic: Pick<Topic<unknown>, "fromOutside">, message: Delivery): FactIdentity {
  try {
    return identifyFact(topic, message);
  } catch {
    const [id, at] = [message.headers[header.factId]?.toLowerCase() ?? "", Number(message.headers[header.at])];
    return { id: isUuid(id) ? id : nameOf(message), at: isInstant(at) ? at : 0 };
  }
}

function notAFact({ topic }: Delivery, missing: string): Fault {
  return fault("not_a_fact", `a message on ${topic} has no ${missing}`);
}

function nameOf({ topic, key, value }: Delivery): string {
  return deriveFactId(`${JSON.stringify([topic, key])} ${value === null ? "" : hash("sha256", value)}`);
}

function isInstant(value: number): boolean {
  return Number.isSafeInteger(value);
}
