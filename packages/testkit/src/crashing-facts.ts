import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { kafkaBus } from "@tessera/engines/kafka/kafka";
import { memoryBus } from "@tessera/engines/memory-bus";
import type { Bus } from "@tessera/kit/bus/bus";
import { consume } from "@tessera/kit/bus/consume";
import { nothingErased } from "@tessera/kit/bus/dead-letter";
import { startRelay } from "@tessera/kit/bus/relay";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { roleOf } from "@tessera/kit/pg/provision";
import { sql } from "@tessera/kit/pg/sql";
import { crashSoon, passCrashPoint } from "./crash-point.ts";
import { eventually } from "./eventually.ts";
import { createEffects, isDrained, noteEffects, numberedTopic, quiet } from "./fact-pipeline.ts";

/** The program: a test kills and restarts it until it ends by itself. */
export const crashingProgram = fileURLToPath(import.meta.url);

const source = numberedTopic("owner.source.v1");
const echo = numberedTopic("reader.echo.v1");

/** The topics that the program publishes to. */
export const crashingTopics = [source.name, echo.name] as const;

/** Creates the program's tables: its progress, and the effects of facts in each schema. */
export async function prepareCrashing({ owner, total }: { owner: Db; total: number }): Promise<void> {
  await createEffects(owner);
  await owner.run(sql`create table progress (next integer not null, total integer not null)`);
  await owner.run(sql`insert into progress (next, total) values (1, ${total})`);
}

/** Lets the program end: it writes no more facts than it has begun. Returns their number. */
export async function endWriting({ owner }: { owner: Db }): Promise<number> {
  const { total } = await owner.one<{ total: number }>(
    sql`update progress set total = progress.next returning progress.total`,
  );
  return total;
}

/** A bus in this process, or on the brokers of KAFKA_BROKERS. The process may die between any two steps. */
function openBus(): Bus {
  const { KAFKA_BROKERS: brokers = "", KAFKA_TOPIC_PREFIX: topicPrefix = "" } = process.env;
  const bus =
    brokers === ""
      ? memoryBus([
          { group: "reader", topic: source.name },
          { group: "owner", topic: echo.name },
        ])
      : kafkaBus({
          brokers: brokers.split(","),
          clientId: "crashing",
          topicPrefix,
          // The next process waits until the session of the dead one ends.
          sessionTimeoutMs: 1500,
          heartbeatIntervalMs: 300,
          log: quiet,
        });
  return {
    ...bus,
    async publish(topic, messages) {
      passCrashPoint("relay.read");
      const publishing = bus.publish(topic, messages);
      crashSoon("relay.publishing");
      await publishing;
      passCrashPoint("relay.published");
    },
    subscribe: (subscription) =>
      bus.subscribe({
        ...subscription,
        async deliver(messages, signal) {
          passCrashPoint("consume.delivered");
          await subscription.deliver(messages, signal);
          passCrashPoint("consume.committed");
          crashSoon("consume.acknowledging");
        },
      }),
  };
}

/**
 * Publishes facts of seven keys from `owner`. `reader` notes each and publishes an echo in the same transaction, which
 * `owner` notes. It prints `ready` after its start, and ends when everything is done.
 */
async function run(url: string): Promise<void> {
  const open = (schema: string) =>
    openDatabase({ url, schema, role: roleOf(schema), applicationName: "crashing", log: quiet });
  const [owner, reader] = [open("owner"), open("reader")];
  const bus = openBus();
  // Before the consumers, as when services start one after the other: facts that wait since the last crash must not be lost.
  const relays = [owner, reader].map((db) =>
    startRelay({
      db,
      bus,
      log: quiet,
      isErased: nothingErased,
      batchSize: 40,
      onBatch: () => passCrashPoint("relay.deleted"),
    }),
  );
  const consumers = [
    {
      group: "reader",
      db: reader,
      consumer: consume(source, async (tx, facts) => {
        await noteEffects(tx, source.name, facts);
        passCrashPoint("consume.acted");
        await tx.publish(
          echo,
          facts.flatMap(({ value }) => (value === null ? [] : [value])),
        );
      }),
    },
    { group: "owner", db: owner, consumer: consume(echo, (tx, facts) => noteEffects(tx, echo.name, facts)) },
  ];
  process.stdout.write("ready\n");
  for (const { group, db, consumer } of consumers) {
    const { deliver } = consumer.open({ db, group, log: quiet, isErased: nothingErased, deps: undefined });
    await bus.subscribe({
      group,
      topic: consumer.topic,
      deliver,
    });
  }
  await Promise.all([writeFacts(owner), writeFacts(owner)]);
  await eventually(() => isDone(owner, reader));
  await bus.close();
  await Promise.all(relays.map((relay) => relay.stop()));
  await Promise.all([owner.close(), reader.close()]);
}

/** Whether all facts were noted. An empty outbox is not enough: the bus may still have some. */
async function isDone(owner: Db, reader: Db): Promise<boolean> {
  const { total } = await owner.one<{ total: number }>(sql`select progress.total from progress`);
  for (const db of [owner, reader]) {
    const { noted } = await db.one<{ noted: number }>(sql`select count(*) as noted from effect`);
    if (noted < total || !(await isDrained(db))) return false;
  }
  return true;
}

/** Before the last crash there should be no more facts to act on than the crashes need. */
const writingPauseMs = 10;
const isLeisurely = process.env["CRASH_AT"] !== undefined;

async function writeFacts(owner: Db): Promise<void> {
  for (let more = true; more; ) {
    more = await owner.transaction(async (tx) => {
      const { next, total } = await tx.one<{ next: number; total: number }>(
        sql`select progress.next, progress.total from progress for update`,
      );
      const count = Math.min(1 + Math.floor(Math.random() * 6), total + 1 - next);
      const numbers = Array.from({ length: count }, (_, index) => next + index);
      await tx.publish(
        source,
        numbers.map((number) => ({ key: `key ${number % 7}`, number })),
      );
      passCrashPoint("write.published");
      await tx.run(sql`update progress set next = ${next + count}`);
      return next + count <= total;
    });
    passCrashPoint("write.committed");
    if (isLeisurely) await sleep(writingPauseMs);
  }
}

if (process.argv[1] === crashingProgram) await run(process.env["DATABASE_URL"] ?? "");
