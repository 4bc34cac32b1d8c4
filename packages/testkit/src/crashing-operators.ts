import { fileURLToPath } from "node:url";
import { memoryBus } from "@tessera/engines/memory-bus";
import { consume } from "@tessera/kit/bus/consume";
import { nothingErased } from "@tessera/kit/bus/dead-letter";
import { rebuildTopics } from "@tessera/kit/bus/rebuild-topics";
import { startRelay } from "@tessera/kit/bus/relay";
import { replayDeadLetters } from "@tessera/kit/bus/replay-dead-letters";
import type { Job } from "@tessera/kit/jobs/interval";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { roleOf } from "@tessera/kit/pg/provision";
import { sql } from "@tessera/kit/pg/sql";
import {
  askForRebuild,
  changeEntity,
  copyEntities,
  createCopy,
  createEntities,
  entityChanged,
  entityRebuild,
} from "./copied-entities.ts";
import { eventually } from "./eventually.ts";
import { isDrained, noteEffects, numberedTopic, quiet } from "./fact-pipeline.ts";

/** The program: a test kills and restarts it until it ends by itself. */
export const crashingProgram = fileURLToPath(import.meta.url);

const events = numberedTopic("owner.events.v1");

/** The program creates, changes and deletes this many entities each while it runs. */
const changes = 300;

/**
 * Prepares the work of the program: dead letters to replay, and a topic to rebuild. The reader's copy lacks a third of the
 * entities, and has as many that are deleted.
 */
export async function prepareCrashing({
  owner,
  reader,
  entities,
  parked,
}: {
  owner: Db;
  reader: Db;
  entities: number;
  parked: number;
}): Promise<void> {
  await createEntities(owner);
  await createCopy(reader);
  await owner.run(sql`create table progress (next integer not null)`);
  await owner.run(sql`insert into progress (next) values (0)`);
  await owner.run(sql`
    insert into entity (key, text, revision)
    select 'entity ' || n, 'text ' || n, nextval('revision_seq') from generate_series(1, ${entities}::integer) as n`);
  await reader.run(sql`
    insert into copy (key, text, revision)
    select 'entity ' || n, 'text ' || n, 0 from generate_series(${Math.floor(entities / 3)}::integer, ${entities}::integer) as n
     union all
    select 'gone ' || n, 'text ' || n, 0 from generate_series(1, ${Math.floor(entities / 3)}::integer) as n`);
  await reader.run(sql`
    insert into dead_letter (consumer, topic, key, fact_id, fact_at, payload, cause, replay_requested_at)
    select 'reader ' || ${events.name}, ${events.name}, 'key ' || n % 7, gen_random_uuid(), now(),
           convert_to('["key ' || n % 7 || '",' || n || ']', 'UTF8'), 'parked', now()
      from generate_series(1, ${parked}::integer) as n`);
  await askForRebuild(owner);
}

/** Rebuilds, replays and changes entities until all is done. */
async function run(url: string): Promise<void> {
  const open = (schema: string) =>
    openDatabase({ url, schema, role: roleOf(schema), applicationName: "crashing", log: quiet });
  const [owner, reader] = [open("owner"), open("reader")];
  const consumers = [
    copyEntities(reader),
    consume(events, (tx, facts) => noteEffects(tx, events.name, facts)).open({
      db: reader,
      group: "reader",
      log: quiet,
      isErased: nothingErased,
      deps: undefined,
    }),
  ];
  const bus = memoryBus([{ group: "reader", topic: entityChanged.name }]);
  for (const consumer of consumers) {
    await bus.subscribe({
      group: "reader",
      topic: consumer.topic,
      deliver: (messages, signal) => consumer.deliver(messages, signal),
    });
  }
  const relay = startRelay({ db: owner, bus, log: quiet, isErased: nothingErased, batchSize: 40 });
  const rebuilding = rebuildTopics({ db: owner, bus, rebuilds: [entityRebuild], log: quiet, batchSize: 20 });
  const replaying = replayDeadLetters({ db: reader, group: "reader", consumers, log: quiet });
  process.stdout.write("ready\n");
  await Promise.all([
    repeat(rebuilding, () => owner.maybeOne(sql`select 1 from rebuild where finished_at is null`)),
    repeat(replaying, () => reader.maybeOne(sql`select 1 from dead_letter limit 1`)),
    changeEntities(owner),
  ]);
  await eventually(() => isDrained(owner));
  await bus.close();
  await relay.stop();
  await Promise.all([owner.close(), reader.close()]);
}

/** Runs a job until its work is done. It pauses while the server still cleans up after a killed process. */
async function repeat(job: Job, findLeft: () => Promise<unknown>): Promise<void> {
  const { signal } = new AbortController();
  while ((await findLeft()) !== undefined) await job.run(signal);
}

async function changeEntities(owner: Db): Promise<void> {
  for (;;) {
    const { next } = await owner.one<{ next: number }>(sql`update progress set next = next + 1 returning next`);
    if (next > changes) return;
    await changeEntity(owner, `new ${next}`, `text ${next}`);
    await changeEntity(owner, `entity ${next}`, `changed ${next}`);
    await changeEntity(owner, `entity ${changes + next}`, null);
  }
}

if (process.argv[1] === crashingProgram) await run(process.env["DATABASE_URL"] ?? "");
