import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { type Finding, skipped, well } from "./finding.ts";
import { sayCount } from "./say-count.ts";
import type { Service, Surroundings } from "./surroundings.ts";

/** Nobody needs to know how many more there are, and counting them all would take as long as their number. */
const mostCounted = 10_000;

/** A running service's relay moves facts within milliseconds; after this, alerts are due. */
const lateSeconds = 60;

/** Examines the facts of one service: those that wait in its outbox, and those that it has set aside. */
export async function examineFacts({ database, config }: Surroundings, service: Service): Promise<Finding[]> {
  const { name } = service;
  if ((await database.absence()) !== undefined)
    return [skipped(`the facts of ${name}`, "there is no database that answers")];
  if ((await database.refusal(service)) !== undefined)
    return [skipped(`the facts of ${name}`, "its schema cannot be used")];
  const db = database.as(service);
  const [waiting, parked, running] = [await readWaiting(db), await readParked(db), await countConnections(db, name)];
  const problems = [
    ...judgeWaiting(waiting, { name, running, bus: config.bus }),
    ...parked.map((each) => tellParked(each, name)),
  ];
  const connected =
    running === 0 ? "no process of it is connected" : `its processes hold ${sayCount(running, "connection")}`;
  return problems.length > 0 ? problems : [well(`${name} has no late and no parked facts; ${connected}`)];
}

interface Waiting {
  readonly count: number;
  readonly seconds: number;
}

async function readWaiting(db: Db): Promise<Waiting> {
  return db.one<Waiting>(sql`
    select (select count(*) from (select from outbox limit ${mostCounted}) as counted) as count,
           coalesce((select extract(epoch from clock_timestamp() - outbox.created_at)
                       from outbox
                      order by outbox.id
                      limit 1), 0)::integer as seconds`);
}

/** Processes of a service call their connections by its name. */
async function countConnections(db: Db, name: string): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from pg_stat_activity
     where pg_stat_activity.datname = current_database()
       and pg_stat_activity.application_name = ${`tessera-${name}`}`);
  return count;
}

/** Judges what an outbox holds. */
export function judgeWaiting(
  { count, seconds }: Waiting,
  { name, running, bus }: { name: string; running: number; bus: "memory" | "kafka" },
): Finding[] {
  if (count === 0 || seconds < lateSeconds) return [];
  const what = `the outbox of ${name} holds ${sayFacts(count)}, the oldest for ${describeAge(seconds)}`;
  if (running === 0) {
    return [
      { level: "warning", what, why: `no process of ${name} is connected`, mend: `start it: tessera serve ${name}` },
    ];
  }
  const why =
    bus === "kafka" ? "the brokers do not take them" : "a consumer in the same process does not come to an end";
  return [{ level: "wrong", what, why, mend: `look at the log of ${name} for "facts are waiting"` }];
}

interface Parked {
  readonly topic: string;
  readonly count: number;
  readonly asked: number;
}

async function readParked(db: Db): Promise<Parked[]> {
  return db.many<Parked>(sql`
    select parked.topic, count(*) as count,
           count(*) filter (where parked.replay_requested_at is not null) as asked
      from (select dead_letter.topic, dead_letter.replay_requested_at
              from dead_letter
             limit ${mostCounted}) as parked
     group by parked.topic
     order by parked.topic`);
}

function tellParked({ topic, count, asked }: Parked, name: string): Finding {
  return {
    level: "wrong",
    what: `${name} has parked ${sayFacts(count)} of ${topic}`,
    why:
      asked === 0
        ? "it could not act on them, so it does not know what they say"
        : `the replay of ${asked} is asked for`,
    mend: `tessera topics parked --service ${name} --topic ${topic} tells the causes; when they are mended, tessera topics replay`,
  };
}

function sayFacts(count: number): string {
  return count === mostCounted ? `${count} facts or more` : sayCount(count, "fact");
}

/** Writes a length of time as a person would say it. */
export function describeAge(seconds: number): string {
  const units = [
    ["day", 86_400],
    ["hour", 3600],
    ["minute", 60],
  ] as const;
  const [unit, length] = units.find(([, each]) => seconds >= each) ?? (["second", 1] as const);
  const count = Math.floor(seconds / length);
  return sayCount(count, unit);
}
