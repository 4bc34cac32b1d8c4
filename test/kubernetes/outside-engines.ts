import { createAuthority, type TestAuthority } from "@tessera/testkit/certificates";
import { startKafka } from "@tessera/testkit/engines/kafka-broker";
import { startRedis } from "@tessera/testkit/engines/redis-server";
import { startS3 } from "@tessera/testkit/engines/s3-server";
import { startTlsPostgres } from "@tessera/testkit/engines/tls-postgres";
import getPort from "get-port";
import { podNetwork } from "./node-network.ts";

/** The engines of a release, which are no pods. Pods reach them at the address of this machine in their network. */
export interface OutsideEngines {
  /** Issues the certificates of the release. */
  readonly authority: TestAuthority;
  /** As pods name it: with the path of the mounted authority. */
  readonly databaseUrl: string;
  /** The same database for tests. */
  readonly ownDatabaseUrl: string;
  readonly brokers: string;
  readonly redisUrl: string;
  readonly s3: {
    readonly endpoint: string;
    readonly bucket: string;
    readonly accessKey: string;
    readonly secretKey: string;
  };
  stop(): Promise<void>;
}

/** Below the ports of outgoing connections; the next one is the controller's. */
const brokerPorts = Array.from({ length: 500 }, (_, index) => 21_000 + 2 * index);

/** Starts PostgreSQL with TLS, Kafka, Redis and S3. The network of the pods must exist. */
export async function startOutsideEngines(): Promise<OutsideEngines> {
  const { address, range } = podNetwork;
  const authority = await createAuthority("authority of the cluster");
  const undo: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const postgres = await startTlsPostgres({
      ...(await authority.issue({ names: [address] })),
      authority: authority.certificate,
      host: address,
      admitted: `hostssl all all ${range} trust\n`,
      settings: { max_connections: "800", shared_buffers: "128MB", jit: "off", max_wal_size: "1GB" },
    });
    undo.push(() => postgres.stop());
    const port = await getPort({ host: "0.0.0.0", port: brokerPorts });
    const kafka = await startKafka({
      port,
      settings: {
        listeners: `CLIENTS://0.0.0.0:${port},CONTROLLER://127.0.0.1:${port + 1}`,
        "advertised.listeners": `CLIENTS://${address}:${port},CONTROLLER://127.0.0.1:${port + 1}`,
      },
    });
    undo.push(() => kafka.stop());
    const redis = await startRedis({ settings: ["--bind", "127.0.0.1", address, "--protected-mode", "no"] });
    undo.push(() => redis.stop());
    const s3 = await startS3({ host: address });
    undo.push(() => s3.stop());
    const server = `postgresql://postgres@${address}:${postgres.port}/postgres`;
    return {
      authority,
      databaseUrl: `${server}?sslmode=verify-full&sslrootcert=/etc/tessera/postgres/ca.crt`,
      ownDatabaseUrl: `${server}?sslmode=no-verify`,
      brokers: `${address}:${port}`,
      redisUrl: redis.url.replace("127.0.0.1", address),
      s3,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
