import type { Queryable } from "../pg/database.ts";
import { type Sql, sql } from "../pg/sql.ts";
import type { Message } from "./bus.ts";
import { header } from "./headers.ts";

export interface OutboxRow {
  readonly id: number;
  readonly factId: string;
  readonly topic: string;
  readonly lane: number;
  readonly createdAt: number;
  readonly message: Message;
}

interface Row {
  readonly id: number;
  readonly fact_id: string;
  readonly key: string;
  readonly partition: number | null;
  readonly payload: Buffer | null;
  readonly marker: string | null;
  readonly traceparent: string | null;
  readonly headers: Readonly<Record<string, string>> | null;
  readonly created_at: number;
  readonly lane: number;
}

/** The topics that have rows, found by one step of the index for each, however many rows there are. */
const waitingTopics = sql`
  with recursive waiting (topic) as (
    (select outbox.topic from outbox order by outbox.topic limit 1)
     union all
    select (select outbox.topic from outbox where outbox.topic > waiting.topic order by outbox.topic limit 1)
      from waiting
     where waiting.topic is not null
  )`;

export async function findWaitingTopics(db: Queryable): Promise<string[]> {
  const rows = await db.many<{ topic: string }>(sql`
    ${waitingTopics}
    select waiting.topic
      from waiting
     where waiting.topic is not null`);
  return rows.map(({ topic }) => topic);
}

/** The number of facts in the outbox, counted up to `atMost`, and the age of the oldest in seconds. */
export async function readOutbox(
  db: Queryable,
  { atMost }: { atMost: number },
): Promise<{ waiting: number; seconds: number }> {
  return db.one(sql`
    ${waitingTopics}
    select (select count(*) from (select from outbox limit ${atMost}) as counted) as waiting,
           coalesce(max(greatest(0, extract(epoch from clock_timestamp() - oldest.created_at))), 0)::float8 as seconds
      from waiting
     cross join lateral (
       select outbox.created_at
         from outbox
        where outbox.topic = waiting.topic
        order by outbox.id
        limit 1) as oldest`);
}

/**
 * The lane of a message, from 0 on. It is a hash of the first two parts of the key, between slashes, which name the
 * owner of a fact. A message that names its partition has the lane of that number.
 */
export function laneOf(table: Sql, lanes: number): Sql {
  return sql`(coalesce(${table}.partition, hashtext(split_part(${table}.key, '/', 1) || '/' || split_part(${table}.key, '/', 2)))
              & ${lanes - 1}::integer)`;
}

/** Which rows to read of a topic: the oldest ones, except those of some lanes, up to a number and a size. The first is read at any size. */
export interface OutboxPart {
  readonly topic: string;
  readonly lanes: number;
  readonly without: ReadonlySet<number>;
  readonly most: number;
  readonly mostBytes: number;
}

/** Reads rows of a topic, and whether there may be more. */
export async function readRows(
  db: Queryable,
  { topic, lanes, without, most, mostBytes }: OutboxPart,
): Promise<{ readonly rows: readonly OutboxRow[]; readonly isMore: boolean }> {
  const lane = lanes === 1 ? sql`0` : laneOf(sql`outbox`, lanes);
  const isFree = without.size === 0 ? sql`` : sql`and ${lane} <> all(${[...without]}::integer[])`;
  const rows = await db.many<Row>(sql`
    select part.id, part.fact_id, part.key, part.partition, part.payload, part.marker, part.traceparent, part.headers,
           part.created_at, part.lane
      from (select outbox.id, outbox.fact_id, outbox.key, outbox.partition, outbox.payload, outbox.marker,
                   outbox.traceparent, outbox.headers, outbox.created_at, ${lane} as lane,
                   coalesce(sum(octet_length(outbox.payload)) over before, 0) as bytes_before
              from outbox
             where outbox.topic = ${topic}
               ${isFree}
            window before as (order by outbox.id rows between unbounded preceding and 1 preceding)
             order by outbox.id
             limit ${most}) as part
     where part.bytes_before < ${mostBytes}
     order by part.id`);
  const bytes = rows.reduce((sum, { payload }) => sum + (payload?.length ?? 0), 0);
  return {
    rows: rows.map((row) => toOutboxRow(row, { topic, lanes })),
    isMore: rows.length === most || bytes >= mostBytes,
  };
}

export async function deleteRows(db: Queryable, topic: string, rows: readonly Pick<OutboxRow, "id">[]): Promise<void> {
  await db.run(sql`
    delete from outbox
     where outbox.topic = ${topic}
       and outbox.id = any(${rows.map(({ id }) => id)}::bigint[])`);
}

function toOutboxRow(row: Row, { topic, lanes }: { topic: string; lanes: number }): OutboxRow {
  const { id, fact_id: factId, created_at: createdAt, lane } = row;
  const partition = lanes === 1 ? row.partition : lane;
  return {
    id,
    factId,
    topic,
    lane,
    createdAt,
    message: {
      key: row.key,
      value: row.payload,
      headers: {
        [header.factId]: factId,
        [header.at]: String(createdAt),
        ...(row.traceparent === null ? {} : { [header.traceparent]: row.traceparent }),
        ...(row.marker === null ? {} : { [header.marker]: row.marker }),
        ...row.headers,
      },
      ...(partition === null ? {} : { partition }),
    },
  };
}
