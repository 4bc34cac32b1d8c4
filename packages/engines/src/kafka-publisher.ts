import type { Message } from "@tessera/kit/bus/bus";
import type { Fault } from "@tessera/kit/fault";
import { fault } from "@tessera/kit/faults";
import { waitAtMost } from "@tessera/kit/wait-at-most";
import {
  gzip,
  type KafkaClient,
  kafkaErrorType,
  type TransactionalProducer,
  topicMissing,
  uncompressed,
} from "./kafka-client.ts";
import { requestsOf } from "./kafka-messages.ts";

export interface Publisher {
  /** Takes the topic over: what any other process publishes to it from now on is refused. */
  claim(): Promise<void>;
  publish(messages: readonly Message[]): Promise<void>;
  /** Lets publications under way come to their end. */
  close(): Promise<void>;
}

/** From here on compression saves more than it costs. */
const gzipFromBytes = 128 * 1024;

/**
 * After a commit the coordinator tells every partition, and until it has done so its transactional id begins nothing
 * new. So publications take turns on several ids, and none waits for the end of the one before.
 *
 * Their number and names belong to what versions promise each other. A version that changes them also opens the former
 * ids once, when it becomes the publisher of a topic; otherwise a process of the version before is not fenced.
 */
const turns = 2;

/**
 * Writes to one topic, one publication after the other, each in a transaction.
 *
 * The transaction is there for its fence, not for atomicity. A process that led and was cut off or paused may have a
 * publication under way; on a compacted topic its old state, landing after a newer one, would be the last word. All
 * processes that may publish to a topic share its transactional ids: only the process that opened them last can still
 * commit, and transactions of the others are aborted, unseen by readers.
 *
 * After any failure the producers are thrown away and the next publication opens the ids again. That ends what a broken
 * one may have left open, and it is simpler to trust than kafkajs' notion of where a transaction stood when a broker died.
 */
export function createPublisher(options: {
  client: KafkaClient;
  /** As it is called above the bus, for messages. */
  topic: string;
  /** As the broker calls it. */
  kafkaTopic: string;
  /** What the transactional ids begin with. */
  transactionalId: string;
  /** A publication that takes longer has failed. */
  timeoutMs: number;
}): Publisher {
  const { client, topic, kafkaTopic, transactionalId, timeoutMs } = options;
  /** In the order of their turns. */
  let open: readonly TransactionalProducer[] = [];
  let tail: Promise<unknown> = Promise.resolve();

  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = tail.then(work);
    tail = turn.catch(() => {});
    return turn;
  };

  /** Does a step with producers, which are thrown away when the step fails or is late; a late one is told to end. */
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

  /** Takes the ids over, all of them: a process that still holds one could go on with every other publication. */
  async function openAnew(): Promise<void> {
    for (const each of open) discard(each);
    open = [];
    const candidates = Array.from({ length: turns }, (_, turn) => client.producer(`${transactionalId}/${turn}`));
    await attempt(candidates, async (signal) => {
      // All of them, also when one fails: what has not yet connected cannot be disconnected.
      const openings = await Promise.allSettled(candidates.map((candidate) => openId(candidate, signal)));
      const failed = openings.find(({ status }) => status === "rejected");
      if (failed?.status === "rejected") throw failed.reason;
    });
    open = candidates;
  }

  async function openId({ producer }: TransactionalProducer, signal: AbortSignal): Promise<void> {
    await producer.connect();
    signal.throwIfAborted();
    // Opens the id; of a transaction without messages the broker never hears.
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
      // kafkajs drops, and says nothing, what was meant for a partition it does not know, or whose leadership went to a
      // broker that had already answered for others.
      const answered = new Set(answers.map(({ partition }) => partition));
      const dropped = [...aimedAt].filter((partition) => !answered.has(partition));
      if (dropped.length > 0) throw new Error(`nothing was written to partition ${dropped.join(", ")}`);
    }
    signal.throwIfAborted();
    await transaction.commit();
  }

  return {
    claim: () => inTurn(openAnew),
    publish: (messages) =>
      inTurn(async () => {
        if (open.length === 0) await openAnew();
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

/** Disconnects; and once more when its last work has ended, for that may have connected again. */
function discard({ producer }: TransactionalProducer, working: Promise<unknown> = Promise.resolve()): void {
  const disconnect = () => producer.disconnect().catch(() => {});
  void disconnect();
  void working.then(disconnect, disconnect);
}

const fenced = new Set(["INVALID_PRODUCER_EPOCH", "PRODUCER_FENCED", "INVALID_TXN_STATE"]);
const tooLarge = new Set(["MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE"]);

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
  return fault("bus_unavailable", `Kafka did not take what was published to ${topic}`, {
    cause: error,
  });
}
