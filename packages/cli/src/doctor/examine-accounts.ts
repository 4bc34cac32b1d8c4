import { setTimeout as sleep } from "node:timers/promises";
import { kafkaClient } from "@tessera/engines/kafka-client";
import type { Account } from "@tessera/kit/account";
import { readOutbox } from "@tessera/kit/bus/outbox-rows";
import type { Queryable } from "@tessera/kit/pg/database";
import { kafkaAccess } from "../open-engines.ts";
import { compareRows, type Difference, findLasting, type Sides } from "./compare-accounts.ts";
import { describeCount } from "./describe-amount.ts";
import { type Finding, ok, skipped, wrong } from "./finding.ts";
import type { Service, Surroundings } from "./surroundings.ts";

/** An account, with the services that keep its true rows and the copy; they may be the same. */
export interface PairedAccount {
  readonly account: Account;
  readonly owner: Service;
  readonly copier: Service;
  readonly rows: { readonly owner: Account["rows"]; readonly copy: Account["rows"] };
}

/** Of the time for the examination: the rest is for facts to arrive. */
const comparingPart = 0.6;
const arrivingPart = 0.9;

const pauseMs = 200;

/** The limit of a question to the brokers. */
const askMs = 4000;

/** More than a person reads at once. */
const mostNamed = 5;

/** Finds the accounts whose both sides are kept by these services. */
export function pairAccounts(definitions: readonly Service[]): PairedAccount[] {
  const kept = definitions.flatMap((service) => (service.accounts ?? []).map((account) => ({ service, account })));
  return kept.flatMap(({ service: copier, account }) => {
    const { name, topic, rows, truth } = account;
    if (truth !== undefined) return [{ account, owner: copier, copier, rows: { owner: truth, copy: rows } }];
    const owner = kept.find((other) => other.account.name === name && other.service.name === topic.owner);
    if (owner === undefined || copier.name === topic.owner) return [];
    return [{ account, owner: owner.service, copier, rows: { owner: owner.account.rows, copy: rows } }];
  });
}

/**
 * Compares what two services keep of the same. A difference counts if it is there when the facts before it have arrived,
 * and neither side has changed the row meanwhile: so traffic may go on.
 */
export async function examineAccount(
  around: Surroundings,
  { account, owner, copier, rows }: PairedAccount,
  { limitMs }: { readonly limitMs: number },
): Promise<Finding[]> {
  const from = performance.now();
  const isLaterThan = (part: number) => performance.now() - from > limitMs * part;
  const db = await around.database.as(owner);
  const sides: Sides = {
    ...account,
    owner: { db, rows: rows.owner },
    copy: { db: owner === copier ? db : await around.database.as(copier), rows: rows.copy },
  };
  const compared = await compareRows(sides, () => isLaterThan(comparingPart));
  const source = owner === copier ? "a recount" : owner.name;
  const subject = `${account.name}, in ${copier.name}`;
  const same = () => ok(`${subject}: ${describeCount(compared.rows, "row")}, as ${source} has them`);
  const partial = compared.isComplete
    ? []
    : [skipped(subject, `only the first ${describeCount(compared.rows, "row")} were compared; raise --timeout`)];
  if (compared.differences.length === 0) return [same(), ...partial];
  const { movedBy, topic } = account;
  const ways: readonly Way[] = [
    ...(movedBy === undefined ? [] : [{ from: copier, to: owner, db: sides.copy.db, topic: movedBy.name }]),
    { from: owner, to: copier, db, topic: topic.name },
  ];
  // In this order: what arrives by the first way is answered by facts on the second.
  for (const way of ways) {
    const begunAt = performance.now();
    const hasArrived = await openArrivals(around, way);
    while (!(await hasArrived((performance.now() - begunAt) / 1000))) {
      if (isLaterThan(arrivingPart)) {
        return [
          skipped(
            `${describeCount(compared.differences.length, "row")} of ${subject}`,
            "facts about them may still be on their way; ask again",
          ),
        ];
      }
      await sleep(pauseMs);
    }
  }
  const lasting = await findLasting(sides, compared.differences);
  if (lasting.length === 0) return [same(), ...partial];
  return [describeDifferences(lasting, { account, source, copier: copier.name }), ...partial];
}

/** Describes rows that differ. */
function describeDifferences(
  differences: readonly Difference[],
  { account, source, copier }: { readonly account: Account; readonly source: string; readonly copier: string },
): Finding {
  const parts = [
    ["lacks", (each: Difference) => each.copy === undefined, `that ${source} has`],
    ["has", (each: Difference) => each.owner === undefined, `that ${source} does not have`],
    [
      "has",
      (each: Difference) => each.owner !== undefined && each.copy !== undefined,
      `that ${source} has differently`,
    ],
  ] as const;
  const said = parts.flatMap(([verb, isWanted, which]) => {
    const count = differences.filter(isWanted).length;
    return count === 0 ? [] : [`${verb} ${describeCount(count, "row")} ${which}`];
  });
  const named = differences.slice(0, mostNamed).map(({ key }) => key.join("/"));
  const others = differences.length > mostNamed ? ", …" : "";
  return wrong(`${account.name}: ${copier} ${said.join(", ")} (${named.join(", ")}${others})`, {
    why: account.harm,
    mend: account.mend ?? `tessera topics rebuild ${account.topic.name}`,
  });
}

/** How facts get from one service to another. */
interface Way {
  readonly from: Service;
  readonly to: Service;
  /** Of the first service: facts wait there. */
  readonly db: Queryable;
  readonly topic: string;
}

/** Returns a question: whether all facts that were written before the seconds that have passed have been accepted. */
async function openArrivals(
  around: Surroundings,
  { from, to, db, topic }: Way,
): Promise<(seconds: number) => Promise<boolean>> {
  if (from === to) return async () => true;
  const isPublished = async (seconds: number) => {
    const outbox = await readOutbox(db, { atMost: 1 });
    return outbox.waiting === 0 || outbox.seconds < seconds;
  };
  if (around.config.bus === "memory") return isPublished;
  const { config, log } = around;
  const client = kafkaClient(kafkaAccess(config, { clientId: "tessera-doctor", log }));
  const kafkaTopic = `${config.kafkaTopicPrefix}${topic}`;
  const groupId = `${config.kafkaTopicPrefix}${to.name}.${topic}`;
  let ends: ReadonlyMap<number, number> | undefined;
  return async (seconds) => {
    if (!(await isPublished(seconds))) return false;
    return client.administer(askMs, async (admin) => {
      ends ??= new Map(
        (await admin.fetchTopicOffsets(kafkaTopic)).map(({ partition, high }) => [partition, Number(high)]),
      );
      const [committed] = await admin.fetchOffsets({ groupId, topics: [kafkaTopic] });
      const accepted = new Map(committed?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
      return [...ends].every(([partition, end]) => end === 0 || (accepted.get(partition) ?? -1) >= end);
    });
  };
}
