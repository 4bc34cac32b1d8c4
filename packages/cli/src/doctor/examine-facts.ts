import { countDeadLetters } from "@tessera/kit/bus/operators";
import { readOutbox } from "@tessera/kit/bus/outbox-rows";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { describeAge, describeCount } from "./describe-amount.ts";
import { type Finding, ok, warning, wrong } from "./finding.ts";
import type { Service, Surroundings } from "./surroundings.ts";

/** Counting more would take too long and change no advice. */
const mostCounted = 10_000;

/** A relay publishes facts within milliseconds; after this long, alerts are due. */
const lateSeconds = 60;

/** Examines the facts of one service: those waiting in its outbox, and those that are parked. */
export async function examineFacts({ database, config }: Surroundings, service: Service): Promise<Finding[]> {
  const { name } = service;
  const db = await database.as(service);
  const state = await readState(db, name);
  const { running } = state;
  const problems = [...judgeWaiting({ ...state, name, bus: config.bus }), ...(await findDeadLetters(db, name))];
  if (problems.length > 0) return problems;
  const connected =
    running === 0 ? "no process of it is connected" : `its processes hold ${describeCount(running, "connection")}`;
  return [ok(`${name} has no late facts and no parked facts; ${connected}`)];
}

interface State {
  readonly waiting: number;
  readonly seconds: number;
  /** Connections that processes of the service hold: their application name is that of the service. */
  readonly running: number;
}

async function readState(db: Db, name: string): Promise<State> {
  const { running } = await db.one<{ running: number }>(sql`
    select count(*) as running
      from pg_stat_activity
     where pg_stat_activity.datname = current_database()
       and pg_stat_activity.application_name = ${`tessera-${name}`}`);
  return { ...(await readOutbox(db, { atMost: mostCounted })), running };
}

/** Judges what an outbox holds. */
export function judgeWaiting({
  waiting,
  seconds,
  running,
  name,
  bus,
}: State & { name: string; bus: "memory" | "kafka" }): Finding[] {
  if (waiting === 0 || seconds < lateSeconds) return [];
  const what = `the outbox of ${name} holds ${describeFacts(waiting)}, the oldest for ${describeAge(seconds)}`;
  if (running === 0)
    return [warning(what, { why: `no process of ${name} is connected`, mend: `start it: tessera serve ${name}` })];
  const why = bus === "kafka" ? "the brokers do not accept them" : "a consumer in the same process does not finish";
  return [wrong(what, { why, mend: `look at the log of ${name} for "facts are waiting"` })];
}

async function findDeadLetters(db: Db, name: string): Promise<Finding[]> {
  const topics = await countDeadLetters(db, { group: name, atMost: mostCounted });
  return topics.map(({ topic, count, isOutgoing, replaysRequested }) =>
    wrong(`${name} has parked ${describeFacts(count)} of ${topic}`, {
      why: replaysRequested === 0 ? describeLoss({ isOutgoing }) : `the replay of ${replaysRequested} is requested`,
      mend: `tessera topics parked --service ${name} --topic ${topic} lists the causes; after you removed them: tessera topics replay`,
    }),
  );
}

function describeLoss({ isOutgoing }: { readonly isOutgoing: boolean }): string {
  return isOutgoing
    ? "the bus refuses them, so the copies of other services lack these changes"
    : "it could not apply them, so its copies lack these changes";
}

function describeFacts(count: number): string {
  return count === mostCounted ? `${count} facts or more` : describeCount(count, "fact");
}
