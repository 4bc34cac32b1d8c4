import type { Delivery, Message } from "@tessera/kit/bus/bus";
import type { IHeaders, KafkaMessage, Message as OutgoingMessage } from "./client.ts";

/** Turns a message into Kafka's form. It always has a key, even an empty one: compaction needs keys. */
function toKafka({ key, value, headers, partition }: Message): OutgoingMessage {
  return {
    key: Buffer.from(key),
    value: value === null ? null : Buffer.from(value.buffer, value.byteOffset, value.byteLength),
    headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)])),
    ...(partition === undefined ? {} : { partition }),
  };
}

/** Reads any message of a topic, also those of foreign producers. */
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

/** The last value of a repeated header counts. */
function textHeaders(headers: IHeaders): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name, [value].flat().at(-1)?.toString() ?? ""]);
  return Object.fromEntries(entries) as Record<string, string>;
}

/**
 * The largest request, below one megabyte, the default limit of brokers and topics. The messages of a partition are one
 * batch, and the limit is for the batch.
 */
const mostBytes = 900_000;
const mostMessages = 1000;

/** Room for lengths, offsets and the header of the batch. */
const overheadBytes = 100;

/** Splits messages into requests that brokers accept, in order. A message that is too large gets a request of its own. */
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
