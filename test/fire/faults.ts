import { setTimeout as sleep } from "node:timers/promises";
import type { ClusterProcess } from "@tessera/dev/cluster/start-process";
import type { Dice } from "@tessera/testkit/dice";
import { shuffle } from "../failure/seeded.ts";
import type { Direction, TcpLink } from "../failure/tcp-link.ts";
import { checkins, type FireCluster, linksOf } from "./fire-cluster.ts";

/** Something that breaks, and is whole again when it resolves. */
export interface PlannedFault {
  readonly name: string;
  /** Gates scan without a pause until it has struck: many scans are between their commit and their answer then. */
  readonly inRush?: boolean;
  strike(cluster: FireCluster): Promise<void>;
  /** What need not be ready for gates; it resolves when the next fault may strike. */
  settle?(cluster: FireCluster): Promise<void>;
}

/** A pause of garbage collection, or of a virtual machine that moves, is shorter. */
const frozenMs = 10_000;
const lostMs = 10_000;
const longestDeathMs = 2000;
const awayMs = 5000;

const gateways = ["gateway-1", "gateway-2"] as const;
const directions = ["requests", "answers"] as const satisfies readonly Direction[];

/** One of each kind, in a random order. */
export function planFaults(dice: Dice): PlannedFault[] {
  const faults = [
    killed(dice.pick(checkins), dice),
    killed(dice.pick(gateways), dice),
    frozen(dice.pick(checkins)),
    frozen(dice.pick(gateways)),
    kafkaKilled,
    stopped,
    failover("killed"),
    failover("frozen"),
    ...directions.map((direction) => lostToCheckin(dice.pick(checkins), direction)),
    ...directions.map((direction) => lostToDatabase(dice.pick(checkins), direction)),
  ];
  return shuffle(faults, dice);
}

/** One of each family that no shorter test has: others kill and freeze processes and Kafka, and stop PostgreSQL at once. */
export function planFewFaults(dice: Dice): PlannedFault[] {
  const faults = [
    dice.pick([lostToCheckin, lostToDatabase])(dice.pick(checkins), dice.pick(directions)),
    failover(dice.pick(["killed", "frozen"])),
  ];
  return shuffle(faults, dice);
}

function killed(name: string, dice: Dice): PlannedFault {
  const deadMs = dice.below(longestDeathMs);
  return {
    name: `${withoutNumber(name)} is killed`,
    async strike(cluster) {
      const victim = cluster.process(name);
      await victim.kill();
      await sleep(deadMs);
      await victim.start();
    },
  };
}

function frozen(name: string): PlannedFault {
  return {
    name: `${withoutNumber(name)} is frozen for 10 s`,
    async strike(cluster) {
      const victim: ClusterProcess = cluster.process(name);
      victim.signal("SIGSTOP");
      await sleep(frozenMs);
      victim.signal("SIGCONT");
    },
  };
}

const kafkaKilled: PlannedFault = {
  name: "Kafka is killed",
  async strike({ kafka }) {
    await kafka.kill();
    await sleep(awayMs);
  },
  settle: ({ kafka }) => kafka.start(),
};

const stopped: PlannedFault = {
  name: "PostgreSQL is stopped at once, and started again",
  inRush: true,
  async strike({ postgres }) {
    await postgres.stopImmediately();
    await sleep(1000);
    await postgres.comeBack();
  },
};

function failover(how: "killed" | "frozen"): PlannedFault {
  return {
    name: `PostgreSQL fails over: the primary is ${how}`,
    inRush: true,
    async strike({ postgres }) {
      await postgres.failOver(how);
    },
    settle: ({ postgres }) => postgres.addStandby(),
  };
}

function lostToCheckin(name: (typeof checkins)[number], direction: Direction): PlannedFault {
  return {
    name: `gateways and one check-in: ${direction} are lost for 10 s`,
    strike: ({ toCheckin }) => lose(toCheckin[name], direction),
  };
}

function lostToDatabase(name: (typeof checkins)[number], direction: Direction): PlannedFault {
  return {
    name: `one check-in and its database: ${direction} are lost for 10 s`,
    strike: ({ toDatabase }) => lose(toDatabase[name], direction),
  };
}

async function lose(link: TcpLink, direction: Direction): Promise<void> {
  link.drop(direction);
  await sleep(lostMs);
  link.heal();
}

function withoutNumber(name: string): string {
  return `a ${name.replace(/-\d+$/, "")}`;
}

/** Ends what a failed test has left broken. */
export async function mend(cluster: FireCluster): Promise<void> {
  for (const link of linksOf(cluster)) link.heal();
  for (const process of cluster.processes) process.signal("SIGCONT");
  await Promise.all(cluster.processes.filter((process) => !process.isRunning()).map((process) => process.start()));
}
