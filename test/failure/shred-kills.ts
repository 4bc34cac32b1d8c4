import { setTimeout as sleep } from "node:timers/promises";
import type { Dice } from "@tessera/testkit/dice";
import type { KafkaEngine } from "@tessera/testkit/engines/kafka-broker";
import type { FestivalCluster } from "./festival-cluster.ts";
import type { MortalPostgres } from "./mortal-postgres.ts";
import { isLong, shuffle } from "./seeded.ts";
import { hurry } from "./shred-traffic.ts";

const longestPauseMs = 700;
const longestDeathMs = 400;

/** Everything that can be killed. */
export interface Mortals {
  readonly cluster: FestivalCluster;
  readonly kafka: KafkaEngine;
  readonly postgres: MortalPostgres;
}

/** Each process once, with the broker and the database, in an order of its own; without much time, one of each service. */
export function drawVictims({ cluster }: Mortals, dice: Dice): string[] {
  const plans = shuffle(cluster.processes, dice).map(({ plan }) => plan);
  const chosen = isLong ? plans : [...new Map(plans.map((plan) => [plan.service, plan])).values()];
  return shuffle([...chosen.map(({ name }) => name), "kafka", "postgres"], dice);
}

/**
 * Kills one victim after the other, and starts it again. Leases of a dead process end at once, and not after a minute.
 * Resolves when all of them run again.
 */
export async function killAll(mortals: Mortals, victims: readonly string[], dice: Dice): Promise<void> {
  const { cluster, kafka, postgres } = mortals;
  const starting: Promise<void>[] = [];
  for (const victim of victims) {
    await sleep(dice.below(longestPauseMs));
    if (victim === "kafka") {
      await kafka.kill();
      await sleep(dice.below(longestDeathMs));
      await kafka.start();
      continue;
    }
    if (victim === "postgres") {
      // A process that starts needs it.
      await Promise.all(starting.splice(0));
      await postgres.die("SIGQUIT");
      await sleep(dice.below(longestDeathMs));
      await postgres.comeBack();
      continue;
    }
    const process = cluster.process(victim);
    await process.kill();
    await hurry(cluster.db, { ended: [schemaOf(process.plan.service)] });
    await sleep(dice.below(longestDeathMs));
    starting.push(process.start());
  }
  await Promise.all(starting);
}

function schemaOf(service: string): string {
  return service === "layout-and-render" ? "layout" : service.replaceAll("-", "_");
}
