import { memoryBus } from "@tessera/engines/memory-bus";
import type { Bus } from "@tessera/kit/bus/bus";
import { consume } from "@tessera/kit/bus/consume";
import { nothingErased } from "@tessera/kit/bus/dead-letter";
import type { Fact } from "@tessera/kit/bus/fact";
import { type RelayOptions, startRelay } from "@tessera/kit/bus/relay";
import type { Db, Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { type Topic, topic } from "@tessera/protos/topic";

/** A fact with its number among those of its key. */
export interface Numbered {
  readonly key: string;
  readonly number: number;
}

/** Declares a topic of numbered facts. Other messages fail to decode. */
export function numberedTopic(name: string): Topic<Numbered> {
  return topic<Numbered>(
    name,
    {
      encode: (fact) => ({ finish: () => Buffer.from(JSON.stringify([fact.key, fact.number])) }),
      decode(bytes) {
        const [key, number] = JSON.parse(Buffer.from(bytes).toString()) as [string, number];
        return { key, number };
      },
    },
    {
      owner: name.split(".")[0] ?? "",
      partitions: 1,
      retention: { kind: "compacted" },
      personalData: {},
      key: (fact) => fact.key,
    },
  );
}

export const quiet = createLog({ service: "test", destination: { write: () => {} } });

/** Creates the table of effects, which shows a fact that acted twice. */
export async function createEffects(db: Db): Promise<void> {
  await db.run(sql`
    create table effect (
      id bigint generated always as identity,
      topic text not null,
      key text not null,
      number bigint,
      fact_id uuid not null
    )`);
}

/** Notes consumed facts in their order. */
export async function noteEffects(tx: Tx, topicName: string, facts: readonly Fact<Numbered>[]): Promise<void> {
  await tx.run(sql`
    insert into effect (topic, key, number, fact_id)
    select ${topicName}, fact.key, fact.number, fact.id
      from unnest(${facts.map((fact) => fact.key)}::text[], ${facts.map((fact) => fact.value?.number ?? null)}::bigint[],
                  ${facts.map((fact) => fact.id)}::uuid[]) with ordinality as fact (key, number, id, ord)
     order by fact.ord`);
}

/** Reads the consumed facts in their order: numbers by key, null for a tombstone. */
export async function effectsByKey(db: Db): Promise<Record<string, (number | null)[]>> {
  const rows = await db.many<{ key: string; number: number | null }>(sql`select key, number from effect order by id`);
  const groups = Map.groupBy(rows, (row) => row.key);
  return Object.fromEntries([...groups].map(([key, group]) => [key, group.map(({ number }) => number)]));
}

export interface Pipeline {
  readonly bus: Bus;
  /** Stops like a process at its normal end: the bus first. */
  stop(): Promise<void>;
}

export interface PipelineOptions {
  readonly owner: Db;
  readonly reader: Db;
  readonly topics: readonly Topic<Numbered>[];
  readonly group?: string;
  /** Acts on facts, and replaces the noting. */
  apply?(tx: Tx, topicName: string, facts: readonly Fact<Numbered>[]): Promise<void>;
  readonly relay?: Partial<RelayOptions>;
}

/** Starts the parts between an outbox and its consumer in one process: bus, consumers, relay. */
export async function startPipeline(options: PipelineOptions): Promise<Pipeline> {
  const { owner, reader, topics, group = "reader", apply = noteEffects } = options;
  const bus = memoryBus([]);
  for (const read of topics) {
    const consumer = consume(read, (tx, facts) => apply(tx, read.name, facts));
    const { deliver } = consumer.open({ db: reader, group, log: quiet, isErased: nothingErased, deps: undefined });
    await bus.subscribe({
      group,
      topic: read.name,
      deliver,
    });
  }
  const relay = startRelay({ db: owner, bus, log: quiet, isErased: nothingErased, ...options.relay });
  return {
    bus,
    async stop() {
      await bus.close();
      await relay.stop();
    },
  };
}

/** Whether the outbox is empty. */
export async function isDrained(db: Db): Promise<boolean> {
  return (await db.maybeOne(sql`select 1 from outbox limit 1`)) === undefined;
}
