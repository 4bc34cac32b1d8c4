import type { Db } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import { readOptions } from "../options.ts";
import { printable } from "../printable.ts";
import { type OpenService, schemaOptions, withServices } from "./open-schemas.ts";

const usage = `tessera topics parked  [OPTIONS]

Lists the facts that services could not act on and have set aside, with the cause. It never shows what is in them.`;

const options = {
  service: { type: "string", value: "NAME", help: "of this service alone" },
  topic: { type: "string", value: "TOPIC", help: "of this topic alone" },
  limit: { type: "string", value: "N", default: "100", help: "at most so many of each service (default 100)" },
  ...schemaOptions,
} as const;

/** A fact that was set aside. */
export interface ParkedFact {
  readonly id: number;
  readonly topic: string;
  readonly key: string;
  readonly fact_at: number;
  readonly parked_at: number;
  readonly tries: number;
  readonly overtaken: boolean;
  readonly asked: boolean;
  readonly cause: string;
}

/** Prints what is parked. */
export async function listParked(args: string[]): Promise<void> {
  const read = readOptions(usage, options, args);
  if (read === undefined) return;
  const { service, topic, limit } = read.values;
  await withServices(read.values, [service ?? "all"], async (opened) => {
    let total = 0;
    for (const { name, db } of opened)
      total += await printOfService({ name, db }, { topic, limit: Number(limit) || 100 });
    if (total === 0) process.stdout.write("Nothing is parked.\n");
    else process.stdout.write("\n`tessera topics replay` has services act on them again.\n");
  });
}

async function printOfService(
  { name, db }: Pick<OpenService, "name" | "db">,
  { topic, limit }: { topic: string | undefined; limit: number },
): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from dead_letter
     where ${topic ?? null}::text is null or dead_letter.topic = ${topic ?? null}`);
  if (count === 0) return 0;
  const rows = await db.many<ParkedFact>(sql`
    select ${parkedColumns}
      from dead_letter
     where ${topic ?? null}::text is null or dead_letter.topic = ${topic ?? null}
     order by dead_letter.id
     limit ${limit}`);
  process.stdout.write(`${name}: ${count} parked\n`);
  for (const row of rows) process.stdout.write(describeParked(row));
  if (count > rows.length) process.stdout.write(`  … ${count - rows.length} more\n`);
  return count;
}

const parkedColumns = sql`
  dead_letter.id, dead_letter.topic, dead_letter.key, dead_letter.fact_at, dead_letter.parked_at, dead_letter.tries,
  dead_letter.overtaken, dead_letter.replay_requested_at is not null as asked, dead_letter.cause`;

/** Reads parked facts by their ids, those that are still there. */
export async function readParked(db: Db, ids: readonly number[]): Promise<ParkedFact[]> {
  return db.many<ParkedFact>(sql`
    select ${parkedColumns}
      from dead_letter
     where dead_letter.id = any(${ids}::bigint[])
     order by dead_letter.id`);
}

/** Says what and where a parked fact is, and why. */
export function describeParked({
  id,
  topic,
  key,
  fact_at,
  parked_at,
  tries,
  overtaken,
  asked,
  cause,
}: ParkedFact): string {
  const remarks = [
    ...(tries > 0 ? [`replayed in vain ${tries === 1 ? "once" : `${tries} times`}`] : []),
    ...(overtaken ? ["a later one of its key was accepted"] : []),
    ...(asked ? ["its replay is asked for"] : []),
  ];
  const times = `written ${toTimestamp(fact_at)}, parked ${toTimestamp(parked_at)}`;
  const remark = remarks.length === 0 ? "" : ` (${remarks.join("; ")})`;
  return `  ${id}  ${printable(topic)}  ${printable(key)}  ${times}${remark}\n      ${printable(cause)}\n`;
}
