import { migrateAll } from "@tessera/cli/migrate";
import { planProcesses, usualReplicas } from "@tessera/dev/cluster/plan";
import { type KafkaEngine, startKafka } from "@tessera/testkit/engines/kafka-broker";
import { findFirstPort, findSteadyPorts } from "../e2e/find-ports.ts";
import { type FestivalCluster, startFestivalCluster } from "../failure/festival-cluster.ts";
import { type ReplicatedPostgres, startReplicatedPostgres } from "../failure/replicated-postgres.ts";
import { openTcpLink, type TcpLink } from "../failure/tcp-link.ts";

/** The two check-ins, and the links around each. */
export const checkins = ["checkin-1", "checkin-2"] as const;
export type Checkin = (typeof checkins)[number];

/** A platform with engines of its own, and links in its ways: all can fail, and none is shared with other tests. */
export interface FireCluster extends FestivalCluster {
  readonly postgres: ReplicatedPostgres;
  readonly kafka: KafkaEngine;
  /** From both gateways to this check-in. */
  readonly toCheckin: Readonly<Record<Checkin, TcpLink>>;
  /** From this check-in to its database. */
  readonly toDatabase: Readonly<Record<Checkin, TcpLink>>;
  /** From all other processes to their database. */
  readonly elsewhere: TcpLink;
}

/** Starts everything. */
export async function startFireCluster(): Promise<FireCluster> {
  const undo: (() => Promise<unknown>)[] = [];
  const remove = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const [postgres, kafka] = await Promise.all([startReplicatedPostgres(), startKafka()]);
    undo.push(
      () => postgres.remove(),
      () => kafka.stop(),
    );
    const open = async (options: Parameters<typeof openTcpLink>[0]) => {
      const link = await openTcpLink(options);
      undo.push(() => link.close());
      return link;
    };
    const firstPort = await findFirstPort();
    const plans = planProcesses(usualReplicas, { firstPort });
    const ports = await findSteadyPorts(5);
    const nextPort = () => ports.pop() ?? 0;
    const linkTo = (name: Checkin) => {
      const port = plans.find((plan) => plan.name === name)?.ports.grpc ?? 0;
      return open({ port: nextPort(), target: () => ({ host: "127.0.0.1", port }) });
    };
    const linkToDatabase = () => open({ port: nextPort(), target: postgres.address });
    const toCheckin = { "checkin-1": await linkTo("checkin-1"), "checkin-2": await linkTo("checkin-2") };
    const toDatabase = { "checkin-1": await linkToDatabase(), "checkin-2": await linkToDatabase() };
    const elsewhere = await linkToDatabase();
    const urlOf = ({ port }: TcpLink) => `postgresql://postgres@127.0.0.1:${port}/postgres?sslmode=disable`;
    const databaseUrl = urlOf(elsewhere);
    await migrateAll({ url: databaseUrl, names: ["all"] });
    const addresses = checkins.map((name) => `127.0.0.1:${toCheckin[name].port}`).join(",");
    const cluster = await startFestivalCluster({
      databaseUrl,
      kafkaBrokers: kafka.brokers,
      firstPort,
      environmentOf: (service, name) => ({
        ...(service === "gateway" ? { CHECKIN_ADDRESS: `ipv4:${addresses}` } : {}),
        ...(isCheckin(name) ? { DATABASE_URL: urlOf(toDatabase[name]) } : {}),
      }),
    });
    undo.push(() => cluster.remove());
    return { ...cluster, postgres, kafka, toCheckin, toDatabase, elsewhere, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

function isCheckin(name: string): name is Checkin {
  return checkins.some((each) => each === name);
}

/** All links of a cluster. */
export function linksOf({ toCheckin, toDatabase, elsewhere }: FireCluster): TcpLink[] {
  return [...Object.values(toCheckin), ...Object.values(toDatabase), elsewhere];
}
