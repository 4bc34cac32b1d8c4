import { consume, type OpenConsumer } from "@tessera/kit/bus/consume";
import { nothingErased } from "@tessera/kit/bus/dead-letter";
import { type Fact, newestPerKey } from "@tessera/kit/bus/fact";
import type { Rebuild } from "@tessera/kit/bus/rebuild-topics";
import type { Db, Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { type Topic, topic } from "@tessera/protos/topic";
import { quiet } from "./fact-pipeline.ts";

/** The state of an entity that an owner has and readers copy. */
export interface EntityState {
  readonly key: string;
  readonly text: string;
  readonly revision: number;
}

/** Facts about entities. Other messages fail to decode. */
export const entityChanged: Topic<EntityState> = topic<EntityState>(
  "owner.entity-changed.v1",
  {
    encode: (fact) => ({ finish: () => Buffer.from(JSON.stringify([fact.key, fact.text, fact.revision])) }),
    decode(bytes) {
      const [key, text, revision] = JSON.parse(Buffer.from(bytes).toString()) as [string, string, number];
      return { key, text, revision };
    },
  },
  {
    owner: "owner",
    partitions: 1,
    retention: { kind: "compacted" },
    personalData: {},
    key: (fact) => fact.key,
  },
);

/** Creates the owner's table. */
export async function createEntities(owner: Db): Promise<void> {
  await owner.run(sql`create sequence revision_seq`);
  await owner.run(sql`create table entity (key text primary key, text text not null, revision bigint not null)`);
}

/** Creates a reader's copy. */
export async function createCopy(reader: Db): Promise<void> {
  await reader.run(sql`create table copy (key text primary key, text text not null, revision bigint not null)`);
}

/** The lock of transactions that change entities, until they end. */
async function lockEntities(tx: Tx, keys: readonly string[]): Promise<void> {
  await tx.run(sql`
    select pg_advisory_xact_lock(hashtextextended(wanted.key, 0))
      from (select key from unnest(${keys}::text[]) as key order by key) as wanted`);
}

/** Changes or creates an entity; a text of null deletes it. */
export async function changeEntity(owner: Db, key: string, text: string | null): Promise<void> {
  await owner.transaction(async (tx) => {
    await lockEntities(tx, [key]);
    if (text === null) {
      const removed = await tx.run(sql`delete from entity where key = ${key}`);
      if (removed > 0) await tx.retract(entityChanged, [key]);
      return;
    }
    const [state] = await tx.many<EntityState>(sql`
      insert into entity (key, text, revision) values (${key}, ${text}, nextval('revision_seq'))
          on conflict (key) do update set text = excluded.text, revision = nextval('revision_seq')
      returning key, text, revision`);
    if (state !== undefined) await tx.publish(entityChanged, [state]);
  });
}

/** The owner's rebuild: it publishes its entities again. */
export const entityRebuild: Rebuild<string> = {
  topic: entityChanged,
  async drawCutoff(tx) {
    await tx.run(sql`lock table entity in share mode`);
    return (await tx.one<{ line: number }>(sql`select nextval('revision_seq') as line`)).line;
  },
  count: async (db) => (await db.one<{ count: number }>(sql`select count(*) as count from entity`)).count,
  async publishNext(tx, { after = "", limit }) {
    const found = await tx.many<{ key: string }>(
      sql`select key from entity where key > ${after} order by key limit ${limit}`,
    );
    const keys = found.map(({ key }) => key);
    const last = keys.at(-1);
    if (last === undefined) return undefined;
    await lockEntities(tx, keys);
    const states = await tx.many<EntityState>(sql`
      select key, text, nextval('revision_seq') as revision from entity where key = any(${keys}::text[])`);
    await tx.publish(entityChanged, states);
    return { last, published: states.length };
  },
};

/** Keeps a copy of the entities. `refuse` makes it fail for some. */
export function copyEntities(
  reader: Db,
  { refuse = () => false }: { refuse?: (key: string) => boolean } = {},
): OpenConsumer {
  return consume(entityChanged, (tx, facts) => takeOver(tx, facts, refuse), {
    sweep: (tx, { before }) => tx.run(sql`delete from copy where copy.revision < ${before}`),
  }).open({ db: reader, group: "reader", log: quiet, isErased: nothingErased, deps: undefined });
}

async function takeOver(
  tx: Tx,
  facts: readonly Fact<EntityState>[],
  refuse: (key: string) => boolean,
): Promise<{ fact: Fact<EntityState>; cause: string }[]> {
  const refused = facts.filter(({ key }) => refuse(key));
  const newest = newestPerKey(facts.filter(({ key }) => !refuse(key)));
  const deleted = newest.filter(({ value }) => value === null).map(({ key }) => key);
  const states = newest.flatMap(({ value }) => value ?? []);
  await tx.run(sql`delete from copy where key = any(${deleted}::text[])`);
  await tx.run(sql`
    insert into copy (key, text, revision)
    select state.key, state.text, state.revision
      from unnest(${states.map((state) => state.key)}::text[], ${states.map((state) => state.text)}::text[],
                  ${states.map((state) => state.revision)}::bigint[]) as state (key, text, revision)
        on conflict (key) do update
       set text = excluded.text, revision = excluded.revision
     where copy.revision < excluded.revision`);
  return refused.map((fact) => ({ fact, cause: "refused" }));
}

/** Reads keys and texts of the owner's entities. */
export async function readEntities(owner: Db): Promise<Record<string, string>> {
  return toRecord(await owner.many(sql`select key, text from entity order by key`));
}

/** Reads keys and texts of a reader's copy. */
export async function readCopy(reader: Db): Promise<Record<string, string>> {
  return toRecord(await reader.many(sql`select key, text from copy order by key`));
}

function toRecord(rows: readonly { readonly key: string; readonly text: string }[]): Record<string, string> {
  return Object.fromEntries(rows.map(({ key, text }) => [key, text]));
}

/** Requests a rebuild, as an operator does, and returns its id. */
export async function askForRebuild(owner: Db): Promise<string> {
  const { id } = await owner.one<{ id: string }>(
    sql`insert into rebuild (topic) values (${entityChanged.name}) returning id`,
  );
  return id;
}
