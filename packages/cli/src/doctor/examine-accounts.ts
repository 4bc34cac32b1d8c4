import { setTimeout as sleep } from "node:timers/promises";
import { kafkaClient } from "@tessera/engines/kafka/client";
import { readOutbox } from "@tessera/kit/bus/outbox-rows";
import { Fault } from "@tessera/kit/fault";
import type { Queryable } from "@tessera/kit/pg/database";
import { identifier, joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import type { Account } from "@tessera/kit/service/account";
import { describeCount, type Finding, nameFirst, ok, skipped, wrong } from "@tessera/kit/service/finding";
import type { Service, Surroundings } from "../configuration/surroundings.ts";
import { kafkaAccess } from "../serve/open-engines.ts";

/** An account with the services of its true rows and of the copy; they may be the same. */
export interface PairedAccount {
  readonly account: Account;
  readonly owner: Service;
  readonly copier: Service;
  readonly truth: Sql;
}

/** The share of the time limit for comparing; the rest is for facts to arrive. */
const comparingPart = 0.6;
const arrivingPart = 0.9;

/** The polling interval, and the timeout of one question to the brokers. */
const [pauseMs, askMs] = [200, 4000];

/** Rows are divided into this many parts by a hash of their key: of a million rows a part has 244. A power of two. */
const partsInAll = 4096;

/** More differing parts would change no advice. */
const mostParts = 64;

/** Finds the accounts with both sides kept by these services. */
export function pairAccounts(definitions: readonly Service[]): PairedAccount[] {
  const kept = definitions.flatMap((service) => (service.accounts ?? []).map((account) => ({ service, account })));
  return kept.flatMap(({ service: copier, account }) => {
    const { name, topic, truth } = account;
    if (truth !== undefined) return [{ account, owner: copier, copier, truth }];
    const owner = kept.find((other) => other.account.name === name && other.service.name === topic.owner);
    if (owner === undefined || copier.name === topic.owner) return [];
    return [{ account, owner: owner.service, copier, truth: owner.account.rows }];
  });
}

/**
 * Reconciles the data that two services keep of the same. A difference counts only if it remains after all earlier
 * facts have arrived, and neither side has changed the row in between: so traffic may go on.
 */
export async function examineAccount(
  around: Surroundings,
  { account, owner, copier, truth }: PairedAccount,
  { limitMs }: { readonly limitMs: number },
): Promise<Finding[]> {
  const lateAt = performance.now() + limitMs * arrivingPart;
  const source = owner === copier ? "a recount" : owner.name;
  const subject = `${account.name}, in ${copier.name}`;
  const limits = { statementTimeoutMs: limitMs * comparingPart };
  const db = await around.database.as(owner, limits);
  // Each side has its own connection, even in one service, so that neither waits for the other.
  const copyDb = await around.database.as(copier, limits);
  const isWithinOne = owner === copier;
  const sides: Sides = {
    ...account,
    isWithinOne,
    owner: { db, rows: truth },
    copy: { db: copyDb, rows: account.rows },
  };
  const compared = await compareParts(sides).catch((error: unknown) => {
    if (error instanceof Fault && error.code === "database_timeout") return undefined;
    throw error;
  });
  if (compared === undefined) return [skipped(subject, "it has too many rows for the time; raise --timeout")];
  const parts = compared.different.slice(0, mostParts);
  const before = new Map((await findDifferences(sides, parts)).map((each) => [each.name, each]));
  // In this order: facts of the second topic answer those of the first.
  const ways = [
    ...(account.movedBy === undefined ? [] : [{ to: owner, db: copyDb, topic: account.movedBy.name }]),
    { to: copier, db, topic: account.topic.name },
  ];
  for (const way of isWithinOne || before.size === 0 ? [] : ways) {
    const begunAt = performance.now();
    const hasArrived = openArrivals(around, way);
    while (!(await hasArrived((performance.now() - begunAt) / 1000))) {
      if (performance.now() > lateAt) {
        const rows = `${describeCount(before.size, "row")} of ${subject}`;
        return [skipped(rows, "facts about them may still be on their way; ask again")];
      }
      await sleep(pauseMs);
    }
  }
  const lasting = (before.size === 0 ? [] : await findDifferences(sides, parts)).filter((now) => {
    const earlier = before.get(now.name);
    return earlier?.owner?.revision === now.owner?.revision && earlier?.copy?.content === now.copy?.content;
  });
  if (lasting.length === 0) return [ok(`${subject}: ${describeCount(compared.rows, "row")}, as ${source} has them`)];
  const others = `other rows of ${subject}`;
  return [
    wrong`${account.name}: ${copier.name} ${describeDifferences(lasting, source)}
      ${account.harm}
      → ${account.mend ?? `tessera topics rebuild ${account.topic.name}`}`,
    ...(compared.different.length > mostParts ? [skipped(others, "too many differ to look at each; ask again")] : []),
  ];
}

function describeDifferences(differences: readonly Difference[], source: string): string {
  const count = (isWanted: (each: Difference) => boolean, verb: string, which: string) => {
    const found = differences.filter(isWanted).length;
    return found === 0 ? [] : [`${verb} ${describeCount(found, "row")} that ${source} ${which}`];
  };
  const kinds = [
    ...count(({ copy }) => copy === undefined, "lacks", "has"),
    ...count(({ owner }) => owner === undefined, "has", "does not have"),
    ...count(({ owner, copy }) => owner !== undefined && copy !== undefined, "has", "has differently"),
  ];
  return `${kinds.join(", ")} (${nameFirst(differences.map(({ name }) => name))})`;
}

/**
 * Returns a function: whether a service has accepted all facts of a topic that were written more than this many seconds
 * ago. Facts may still wait in the outbox.
 */
function openArrivals(
  { config, log }: Surroundings,
  { to, db, topic }: { readonly to: Service; readonly db: Queryable; readonly topic: string },
): (seconds: number) => Promise<boolean> {
  const kafkaTopic = `${config.kafkaTopicPrefix}${topic}`;
  const groupId = `${config.kafkaTopicPrefix}${to.name}.${topic}`;
  let ends: readonly { readonly partition: number; readonly high: string }[] | undefined;
  return async (seconds) => {
    const outbox = await readOutbox(db, { atMost: 1 });
    if (outbox.waiting > 0 && outbox.seconds >= seconds) return false;
    if (config.bus === "memory") return true;
    const client = kafkaClient(kafkaAccess(config, { clientId: "tessera-doctor", log }));
    return client.administer(askMs, async (admin) => {
      ends ??= await admin.fetchTopicOffsets(kafkaTopic);
      const [committed] = await admin.fetchOffsets({ groupId, topics: [kafkaTopic] });
      const accepted = new Map(committed?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
      return ends.every(({ partition, high }) => high === "0" || (accepted.get(partition) ?? -1) >= Number(high));
    });
  };
}

/** The database of one side, and the statement that selects its rows. */
interface Side {
  readonly db: Queryable;
  readonly rows: Sql;
}

/** The two sides of a comparison: the true rows, and the copy. */
interface Sides extends Pick<Account, "key" | "isPart"> {
  /** Both are of one database, and are read in one statement: between two of them rows would change. */
  readonly isWithinOne: boolean;
  readonly owner: Side;
  readonly copy: Side;
}

/** A row on one side; undefined: missing. */
type Seen = { readonly revision: number; readonly content: string } | undefined;

/** A row that differs between the sides, named by its key. */
interface Difference {
  readonly name: string;
  readonly owner: Seen;
  readonly copy: Seen;
}

/** Compares row counts and sums of hashes per part; only differing parts are compared row by row. */
async function compareParts(sides: Sides): Promise<{ readonly rows: number; readonly different: readonly number[] }> {
  const sum = ({ db, rows }: Side) =>
    db.many<{ part: number; rows: number; digest: string }>(sql`
      select account.part, count(*) as rows,
             sum(hashtextextended(concat_ws('/', account.name, account.content), 0)::numeric)::text as digest
        from (${divide(rows, sides)}) as account
       group by account.part`);
  const [owned, copied] = await Promise.all([sum(sides.owner), sum(sides.copy)]);
  const write = ({ part, rows, digest }: (typeof owned)[number]) => [part, `${rows} ${digest}`] as const;
  const [own, copy] = [new Map(owned.map(write)), new Map(copied.map(write))];
  return {
    rows: owned.reduce((all, { rows }) => all + rows, 0),
    different: [...new Set([...own.keys(), ...copy.keys()])].filter((part) => own.get(part) !== copy.get(part)),
  };
}

async function findDifferences(sides: Sides, parts: readonly number[]): Promise<Difference[]> {
  type Row = NonNullable<Seen> & { readonly name: string };
  const rowsOf = (side: "owner" | "copy") => sql`
      (select ${side} as side, account.name, account.revision, account.content
         from (${divide(sides[side].rows, sides)}) as account
        where account.part = any(${parts}::integer[])
        order by ${keyOf(sides)})`;
  const read = ({ db }: Side, rows: Sql) => db.many<Row & { readonly side: string }>(rows);
  // The copy first: its rows are older than those of the owner.
  const found = sides.isWithinOne
    ? await read(sides.owner, sql`${rowsOf("copy")} union all ${rowsOf("owner")}`)
    : [...(await read(sides.copy, rowsOf("copy"))), ...(await read(sides.owner, rowsOf("owner")))];
  const of = (side: string) =>
    new Map(found.filter((row) => row.side === side).map((row): [string, Row] => [row.name, row]));
  const [copied, owned] = [of("copy"), of("owner")];
  return [...new Set([...owned.keys(), ...copied.keys()])].flatMap((name) => {
    const [owner, copy] = [owned.get(name), copied.get(name)];
    const isLackable = copy === undefined && sides.isPart === true;
    return owner?.content === copy?.content || isLackable ? [] : [{ name, owner, copy }];
  });
}

function divide(rows: Sql, sides: Sides): Sql {
  const key = keyOf(sides);
  return sql`
    select ${key}, concat_ws('/', ${key}) as name, hashtext(concat_ws('/', ${key})) & ${partsInAll - 1}::integer as part,
           account.revision, account.content
      from (${rows}) as account`;
}

function keyOf({ key }: Sides): Sql {
  const columns = Object.keys(key).map((name) => sql`account.${identifier(name)}`);
  return joinSql(columns, ", ");
}
