import { createHash } from "node:crypto";
import { countDeadLetters } from "@tessera/kit/bus/operators";
import { readOutbox } from "@tessera/kit/bus/outbox-rows";
import { findLate } from "@tessera/kit/jobs/work-reads";
import { sql } from "@tessera/kit/pg/sql";
import { describeAge, describeCount, type Finding, mostNamed, ok, warning, wrong } from "@tessera/kit/service/finding";
import type { Service, Surroundings } from "../configuration/surroundings.ts";

/** To count more would take too long and change no advice. */
const mostCounted = 10_000;

/** A relay publishes facts within milliseconds; after this long, alerts are due. */
const lateFactsSeconds = 60;

/** The longest work takes minutes. */
const lateWorkSeconds = 600;

const warningDays = 7;

/** Examines the facts of one service: those waiting in its outbox, and those that are parked. */
export async function examineFacts({ database, config }: Surroundings, service: Service): Promise<Finding[]> {
  const { name } = service;
  const db = await database.as(service);
  const { running } = await db.one<{ running: number }>(sql`
    select count(*) as running
      from pg_stat_activity
     where pg_stat_activity.datname = current_database()
       and pg_stat_activity.application_name = ${`tessera-${name}`}`);
  const outbox = await readOutbox(db, { atMost: mostCounted });
  const parked = await countDeadLetters(db, { group: name, atMost: mostCounted });
  const problems = [
    ...judgeWaiting({ ...outbox, running, name, bus: config.bus }),
    ...parked.map(({ topic, count, isOutgoing, replaysRequested }) => {
      const loss = isOutgoing
        ? "the bus refuses them, so the copies of other services lack these changes"
        : "it could not apply them, so its copies lack these changes";
      return wrong`${name} has parked ${describeFacts(count)} of ${topic}
        ${replaysRequested === 0 ? loss : `the replay of ${replaysRequested} is requested`}
                   → tessera topics parked --service ${name} --topic ${topic} lists the causes; after you removed them: tessera topics replay`;
    }),
  ];
  if (problems.length > 0) return problems;
  const connected =
    running === 0 ? "no process of it is connected" : `its processes hold ${describeCount(running, "connection")}`;
  return [ok(`${name} has no late facts and no parked facts; ${connected}`)];
}

/** Judges an outbox; `running` is the number of connections of the service's processes. */
export function judgeWaiting(outbox: {
  readonly waiting: number;
  readonly seconds: number;
  readonly running: number;
  readonly name: string;
  readonly bus: "memory" | "kafka";
}): Finding[] {
  const { waiting, seconds, running, name, bus } = outbox;
  if (waiting === 0 || seconds < lateFactsSeconds) return [];
  const what = `the outbox of ${name} holds ${describeFacts(waiting)}, the oldest for ${describeAge(seconds)}`;
  const why = bus === "kafka" ? "the brokers do not accept them" : "a consumer in the same process does not finish";
  return [
    running === 0
      ? warning`${what}
        no process of ${name} is connected
        → start it: tessera serve ${name}`
      : wrong`${what}
        ${why}
        → look at the log of ${name} for "facts are waiting"`,
  ];
}

function describeFacts(count: number): string {
  return count === mostCounted ? `${count} facts or more` : describeCount(count, "fact");
}

/** Examines the background work of one service that is overdue, for instance a batch of tickets. */
export async function examineWork({ database }: Surroundings, service: Service): Promise<Finding[]> {
  const late = await findLate(await database.as(service), { seconds: lateWorkSeconds, most: mostNamed });
  if (late.length === 0) return [ok(`${service.name} has no late work`)];
  return late.map(({ kind, id, state, tries, seconds, cause }) => {
    const [work, age] = [`"${kind}" ${id} of ${service.name}`, describeAge(seconds)];
    if (cause !== null)
      return wrong`${work} was tried ${tries} times in ${age}
        ${cause}
        → its log has each failure; the work goes on by itself when the cause is removed`;
    return warning`${work} is ${state} for ${age}
      no process has done it yet
      → see whether a process of ${service.name} runs, and raise the number of its processes if there is much work`;
  });
}

/** Reports fields of records that were ignored or doubtful: the feed has no sender to answer to. */
export async function examineRecords({ database }: Surroundings, gateway: Service): Promise<Finding[]> {
  const { findWarnings } = await import("@tessera/gateway/store/record-warnings");
  const found = await findWarnings(await database.as(gateway), { days: warningDays, most: mostNamed });
  if (found.length === 0) return [ok(`no record had warnings in the last ${warningDays} days`)];
  return found.map(
    ({ kind, field, count }) =>
      warning`${describeCount(count, "warning")} about ${field} of ${kind} records, the last within ${warningDays} days
        the shop sends values that were left out or are doubtful; the records were taken without them
        → import the same records again with \`validate=true\`: the answer names the lines, and says what is wrong`,
  );
}

/** Looks for a credential with the operator key: its holder stays operator until the key is exchanged, and then is that credential. */
export async function examineOperatorKey(
  { database, environment }: Surroundings,
  gateway: Service,
): Promise<Finding[]> {
  const key = environment["OPERATOR_KEY"];
  if (!key) return [];
  const { findByHash } = await import("@tessera/gateway/store/credentials");
  const db = await database.as(gateway);
  const tokenHash = createHash("sha256").update(key).digest();
  const found = await Promise.all((["api_key", "device"] as const).map((kind) => findByHash(db, kind, tokenHash)));
  return found.flatMap((credential) =>
    credential === undefined
      ? []
      : wrong`the operator key is also the token of ${credential.kind} ${credential.id} of ${credential.organizer}
          when the operator key is exchanged, the former one still opens that organizer
          → remove that credential by a record with "deleted": true`,
  );
}

/** Examines devices that were heard of in the last hours. */
export async function examineDevices({ database }: Surroundings, gateway: Service): Promise<Finding[]> {
  const { findTroubledDevices } = await import("@tessera/gateway/store/device-contacts");
  const found = await findTroubledDevices(await database.as(gateway), { most: mostNamed });
  if (found.length === 0) return [ok("no device is silent with scans to upload, behind, or short of battery")];
  return found.map(({ organizer, device, gate, silentSeconds, syncedSeconds, queue, battery, trouble }) => {
    const which = `device ${device} of ${organizer}${gate === null ? "" : ` at gate ${gate}`}`;
    if (trouble === "silent")
      return warning`${which} is silent for ${describeAge(silentSeconds)} and has ${describeCount(queue ?? 0, "scan")} to upload
        other gates do not know of these scans
        → bring it to a network, with its app open`;
    if (trouble === "battery")
      return warning`${which} has ${battery ?? 0} % of its battery left
        → bring it to a charger`;
    return warning`${which} had all changes ${describeAge(syncedSeconds ?? 0)} ago
      it sends requests, and would decide scans without a network by old data
      → close and open its app; its log says why it cannot read the sync feed`;
  });
}
