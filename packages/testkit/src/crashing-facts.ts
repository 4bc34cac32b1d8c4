import { fileURLToPath } from "node:url";
import { consume } from "@tessera/kit/bus/consume";
import { memoryBus } from "@tessera/kit/bus/memory";
import { startRelay } from "@tessera/kit/bus/relay";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { roleOf } from "@tessera/kit/pg/provision";
import { sql } from "@tessera/kit/pg/sql";
import { createEffects, eventually, isDrained, noteEffects, numberedTopic, quiet } from "./fact-pipeline.ts";

/** The file to run: it is killed and started again until it ends by itself. */
export const crashingProgram = fileURLToPath(import.meta.url);

const source = numberedTopic("owner.source.v1");
const echo = numberedTopic("reader.echo.v1");

/** Creates what the program keeps in the database: how far it has come, and what facts did in either schema. */
export async function prepareCrashing({ owner, total }: { owner: Db; total: number }): Promise<void> {
  await createEffects(owner);
  await owner.run(sql`create table progress (next integer not null, total integer not null)`);
  await owner.run(sql`insert into progress (next, total) values (1, ${total})`);
}

/**
 * Publishes facts of seven keys from `owner`; `reader` notes each and publishes an echo in the same transaction, which
 * `owner` notes in turn. Says `ready` when it has begun and ends when everything is done.
 */
async function run(url: string): Promise<void> {
  const open = (schema: string) =>
    openDatabase({ url, schema, role: roleOf(schema), applicationName: "crashing", log: quiet });
  const [owner, reader] = [open("owner"), open("reader")];
  const bus = memoryBus([
    { group: "reader", topic: source.name },
    { group: "owner", topic: echo.name },
  ]);
  // Before the consumers, as when services start one after the other: what waits since the last crash must not be lost.
  const relays = [owner, reader].map((db) => startRelay({ db, bus, log: quiet, batchSize: 40 }));
  const consumers = [
    {
      group: "reader",
      consumer: consume(source, reader, async (tx, facts) => {
        await noteEffects(tx, source.name, facts);
        await tx.publish(
          echo,
          facts.flatMap(({ value }) => (value === null ? [] : [value])),
        );
      }),
    },
    { group: "owner", consumer: consume(echo, owner, (tx, facts) => noteEffects(tx, echo.name, facts)) },
  ];
  process.stdout.write("ready\n");
  for (const { group, consumer } of consumers) {
    await bus.subscribe({
      group,
      topic: consumer.topic,
      deliver: (messages, signal) => consumer.deliver(messages, { group, log: quiet, signal }),
    });
  }
  await Promise.all([writeFacts(owner), writeFacts(owner)]);
  await eventually(async () => (await isDrained(owner)) && (await isDrained(reader)), 30_000);
  await bus.close();
  await Promise.all(relays.map((relay) => relay.stop()));
  await Promise.all([owner.close(), reader.close()]);
}

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
      await tx.run(sql`update progress set next = ${next + count}`);
      return next + count <= total;
    });
  }
}

if (process.argv[1] === crashingProgram) await run(process.env["DATABASE_URL"] ?? "");
