import type { Delivery, Message } from "@tessera/kit/bus/bus";
import type { IHeaders, KafkaMessage, Message as OutgoingMessage } from "./kafka-client.ts";

/** Makes of our message what Kafka stores. An empty key is a key: only what has one can be compacted. */
function toKafka({ key, value, headers, partition }: Message): OutgoingMessage {
  return {
    key: Buffer.from(key),
    value: value === null ? null : Buffer.from(value.buffer, value.byteOffset, value.byteLength),
    headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)])),
    ...(partition === undefined ? {} : { partition }),
  };
}

/** Reads anything that stands in a topic, also what somebody else has put there. */
export function fromKafka(message: KafkaMessage, { topic, partition }: { topic: string; partition: number }): Delivery {
  return {
    topic,
    partition,
    key: message.key?.toString() ?? "",
    value: message.value,
    headers: textHeaders(message.headers ?? {}),
    place: { offset: message.offset, storedAt: Number(message.timestamp) * 1000 },
  };
}

/** Of a header that comes more than once, the last counts. */
function textHeaders(headers: IHeaders): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name, [value].flat().at(-1)?.toString() ?? ""]);
  return Object.fromEntries(entries) as Record<string, string>;
}

/**
 * What one request may carry, below the megabyte that brokers and topics take unless told otherwise. The messages of a
 * partition travel as one batch, and it is the batch that is measured.
 */
const mostBytes = 900_000;
const mostMessages = 1000;

/** Lengths, offsets and the batch's head. */
const overheadBytes = 100;

/** Cuts messages into requests that brokers accept, in order. What is too large by itself stands alone. */
export function* requestsOf(messages: readonly Message[]): Iterable<{ messages: OutgoingMessage[]; bytes: number }> {
  let request: OutgoingMessage[] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = sizeOf(message);
    if (request.length > 0 && (bytes + size > mostBytes || request.length === mostMessages)) {
      yield { messages: request, bytes };
      [request, bytes] = [[], 0];
    }
    request.push(toKafka(message));
    bytes += size;
  }
  if (request.length > 0) yield { messages: request, bytes };
}

function sizeOf({ key, value, headers }: Message): number {
  const named = Object.entries(headers).map(([name, text]) => Buffer.byteLength(name) + Buffer.byteLength(text) + 10);
  return named.reduce((sum, size) => sum + size, overheadBytes) + Buffer.byteLength(key) + (value?.byteLength ?? 0);
}
