import type { Message } from "@tessera/kit/bus/bus";
import type { Fault } from "@tessera/kit/fault";
import { fault } from "@tessera/kit/faults";
import { waitAtMost } from "@tessera/kit/waiting/wait-at-most";
import {
  gzip,
  type KafkaClient,
  kafkaErrorType,
  type TransactionalProducer,
  topicMissing,
  uncompressed,
} from "./client.ts";
import { requestsOf } from "./messages.ts";

export interface Publisher {
  /** Claims the topic: fences the publications of other processes. */
  claim(): Promise<void>;
  publish(messages: readonly Message[]): Promise<void>;
  /** Waits for running publications. */
  close(): Promise<void>;
}

/** Above this size compression saves more than it costs. */
const gzipFromBytes = 128 * 1024;

/**
 * After a commit the coordinator informs every partition. Until then the transactional id cannot begin another
 * transaction, so publications alternate between several ids.
 *
 * Processes of different versions run side by side, so number and names of the ids must not change. A version that
 * changes them must also open the former ids once, when it claims a topic; otherwise it does not fence a process of the
 * version before.
 */
const transactionalIds = 2;

/**
 * Writes to one topic, one publication after the other, each in a transaction.
 *
 * The purpose of the transaction is fencing, not atomicity. A former leader that was disconnected or paused may still
 * have a publication under way. On a compacted topic its old state could be written after a newer one, and would stay
 * the last. All processes that may publish to a topic share its transactional ids. Only the process that opened them
 * last can commit; transactions of others are aborted, and readers never see them.
 *
 * After any failure the producers are discarded, and the next publication opens the ids again. That also aborts an open
 * transaction of a broken producer, and is more reliable than kafkajs' own state when a broker dies.
 */
export function createPublisher(options: {
  client: KafkaClient;
  /** Its name in the catalogue, for messages. */
  topic: string;
  /** Its name on the broker. */
  kafkaTopic: string;
  transactionalId: string;
  /** A publication that takes longer fails. */
  timeoutMs: number;
}): Publisher {
  const { client, topic, kafkaTopic, transactionalId, timeoutMs } = options;
  /** In the order of their next use. */
  let open: readonly TransactionalProducer[] = [];
  let tail: Promise<unknown> = Promise.resolve();

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = tail.then(work);
    tail = turn.catch(() => {});
    return turn;
  };

  /** Runs a step with producers. On failure or timeout the producers are discarded, and a late step is aborted. */
  async function attempt(
    producers: readonly TransactionalProducer[],
    step: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const late = new AbortController();
    const working = step(late.signal);
    try {
      await waitAtMost(timeoutMs, working, () => new Error(`Kafka did not answer within ${timeoutMs} ms`));
    } catch (error) {
      late.abort();
      open = [];
      for (const each of producers) discard(each, working);
      throw toFault(error, topic);
    }
  }

  /** Opens all ids, which fences older processes. */
  async function openIds(): Promise<void> {
    for (const each of open) discard(each);
    open = [];
    const candidates = Array.from({ length: transactionalIds }, (_, index) =>
      client.producer(`${transactionalId}/${index}`),
    );
    await attempt(candidates, async (signal) => {
      // Waits for all, even after a failure: a producer that is still connecting cannot be disconnected.
      const openings = await Promise.allSettled(candidates.map((candidate) => openId(candidate, signal)));
      const failed = openings.find(({ status }) => status === "rejected");
      if (failed?.status === "rejected") throw failed.reason;
    });
    open = candidates;
  }

  async function openId({ producer }: TransactionalProducer, signal: AbortSignal): Promise<void> {
    await producer.connect();
    signal.throwIfAborted();
    // Begins and aborts a transaction to open the id. Without messages the broker does not notice the transaction.
    const opening = await producer.transaction();
    await opening.abort();
  }

  async function write(
    { producer, aimedAt }: TransactionalProducer,
    messages: readonly Message[],
    signal: AbortSignal,
  ): Promise<void> {
    const transaction = await producer.transaction();
    for (const request of requestsOf(messages)) {
      signal.throwIfAborted();
      aimedAt.clear();
      const answers = await transaction.send({
        topic: kafkaTopic,
        acks: -1,
        timeout: timeoutMs,
        compression: request.bytes < gzipFromBytes ? uncompressed : gzip,
        messages: request.messages,
      });
      // kafkajs silently drops messages for an unknown partition, and for a partition that moved to a broker that had
      // already answered for other partitions.
      const answered = new Set(answers.map(({ partition }) => partition));
      const dropped = [...aimedAt].filter((partition) => !answered.has(partition));
      if (dropped.length > 0) throw new Error(`nothing was written to partition ${dropped.join(", ")}`);
    }
    signal.throwIfAborted();
    await transaction.commit();
  }

  return {
    claim: () => inTurn(openIds),
    publish: (messages) =>
      inTurn(async () => {
        if (open.length === 0) await openIds();
        const [current, ...others] = open as [TransactionalProducer, ...TransactionalProducer[]];
        await attempt(open, (signal) => write(current, messages, signal));
        open = [...others, current];
      }),
    async close() {
      await tail;
      const disconnecting = open.map(({ producer }) => producer.disconnect());
      await waitAtMost(timeoutMs, Promise.all(disconnecting), () => new Error("too late")).catch(() => {});
    },
  };
}

/** Disconnects, and again after its last work, which may have reconnected. */
function discard({ producer }: TransactionalProducer, working: Promise<unknown> = Promise.resolve()): void {
  const disconnect = () => producer.disconnect().catch(() => {});
  void disconnect();
  void working.then(disconnect, disconnect);
}

const fenced = new Set(["INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED", "INVALID_TXN_STATE"]);
const tooLarge = new Set(["MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE"]);
const refused = new Set(["INVALID_RECORD", "INVALID_TIMESTAMP"]);

function toFault(error: unknown, topic: string): Fault {
  const type = kafkaErrorType(error) ?? "";
  if (type === "UNKNOWN_TOPIC_OR_PARTITION") return topicMissing(topic, error);
  if (fenced.has(type)) {
    return fault("bus_fenced", `another process has taken over ${topic}: nothing was published`, {
      cause: error,
    });
  }
  if (tooLarge.has(type)) {
    return fault(
      "message_too_large",
      `a message is larger than the topic ${topic} takes: raise its max.message.bytes`,
      { cause: error },
    );
  }
  if (refused.has(type))
    return fault("message_refused", `the topic ${topic} does not take a message (${type})`, { cause: error });
  return fault("bus_unavailable", `Kafka did not take what was published to ${topic}`, {
    cause: error,
  });
}
