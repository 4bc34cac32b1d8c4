import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { type EngineProcess, installOnce, startProcess, takesConnections } from "./engine-process.ts";
import { installKafka, logSettings } from "./kafka-install.ts";

const run = promisify(execFile);

/** Real brokers on this machine. Nodes are numbered from 1. */
export interface KafkaEngine {
  /** The addresses: `host:port,host:port`. */
  readonly brokers: string;
  /** The address of another listener, OTHER, of the first broker, if it speaks TLS. */
  readonly other: string;
  /** Ends a broker as a crash does. */
  kill(node?: number): Promise<void>;
  /** Starts a killed broker with its stored data. */
  start(node?: number): Promise<void>;
  /** Stops all brokers, deletes their data and starts them at the same addresses. */
  wipe(): Promise<void>;
  /** Freezes a broker, as when its machine hangs: its connections stay open without answers. */
  freeze(node?: number): void;
  thaw(node?: number): void;
  /** Stops all brokers, and deletes their data if no directory was given. */
  stop(): Promise<void>;
}

export interface KafkaEngineOptions {
  /** Keeps the logs between starts. By default they are deleted with the brokers. */
  readonly directory?: string;
  /** The address of this machine at which clients reach the brokers. By default this machine alone reaches them. */
  readonly host?: string;
  /** The first broker's port; the others use the next ones. By default free ports. */
  readonly port?: number;
  readonly brokers?: 1 | 3;
  /** What clients and brokers speak; certificates are settings. */
  readonly protocol?: "PLAINTEXT" | "SASL_SSL";
  /** Passwords for SCRAM-SHA-512, by account. */
  readonly accounts?: Readonly<Record<string, string>>;
  /** Broker settings that add to the built-in ones or replace them. */
  readonly settings?: Readonly<Record<string, string>>;
}

interface Node {
  readonly id: number;
  readonly port: number;
  readonly controllerPort: number;
  readonly otherPort: number;
  readonly directory: string;
  process: EngineProcess | undefined;
}

const ownHost = "127.0.0.1";

/** Under full load the start of a broker has taken sixteen seconds. */
const startPatienceMs = 90_000;

/** The programs of a broker. */
interface Programs {
  /** The folder of the jars. */
  readonly libraries: string;
  /** Options of every Java process. */
  readonly classes: string;
}

/** Downloads the broker once per machine, and prepares its start. */
export async function prepareKafka(): Promise<Programs> {
  const libraries = await installKafka();
  const folder = await installOnce(`${basename(libraries)}-classes`, (draft) => archiveClasses(libraries, draft));
  return { libraries, classes: `-XX:SharedArchiveFile=${join(folder, archive)}` };
}

const archive = "classes.jsa";

/**
 * Archives the classes that a broker loads, which are most of the work of its start. Java does without an archive of
 * another Java.
 */
async function archiveClasses(libraries: string, folder: string): Promise<void> {
  const [port = 0, controllerPort = 0, otherPort = 0] = await choosePorts(3, undefined);
  const place = { directory: join(folder, "broker"), process: undefined };
  const node: Node = { id: 1, port, controllerPort, otherPort, ...place };
  const programs = { libraries, classes: `-XX:ArchiveClassesAtExit=${join(folder, archive)}` };
  const settings = settingsOf(node, { nodes: [node], protocol: "PLAINTEXT" });
  const cluster = await clusterId(node.directory);
  await format({ libraries, classes: "-Xshare:auto" }, { node, settings, cluster, accounts: {} });
  const broker = await launch(programs, node, "");
  await broker.end("SIGTERM", startPatienceMs);
  await rm(node.directory, { recursive: true, force: true });
}

/** Starts one broker, or three that replicate each other. Each is also a controller. */
export async function startKafka(options: KafkaEngineOptions = {}): Promise<KafkaEngine> {
  const programs = await prepareKafka();
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), "tessera-kafka-")));
  const scratch = options.directory === undefined ? directory : "";
  const ids = Array.from({ length: options.brokers ?? 1 }, (_, index) => index + 1);
  const ports = await choosePorts(3 * ids.length, options.port);
  const nodes = ids.map((id, index) => ({
    id,
    port: ports[index] ?? 0,
    controllerPort: ports[ids.length + index] ?? 0,
    otherPort: ports[2 * ids.length + index] ?? 0,
    directory: join(directory, `broker-${id}`),
    process: undefined as EngineProcess | undefined,
  }));
  const { protocol = "PLAINTEXT", host } = options;
  const settings = (node: Node) => ({ ...settingsOf(node, { nodes, protocol, host }), ...options.settings });

  const launchNode = (node: Node) => launch(programs, node, scratch);
  const startAll = async () => {
    const cluster = await clusterId(directory);
    const starts = await Promise.allSettled(
      nodes.map(async (node) => {
        await format(programs, { node, settings: settings(node), cluster, accounts: options.accounts ?? {} });
        node.process = await launchNode(node);
      }),
    );
    const failure = starts.find((start) => start.status === "rejected");
    if (failure !== undefined) throw failure.reason;
  };
  const endAll = (signal: "SIGTERM" | "SIGKILL") => Promise.all(nodes.map(async (node) => node.process?.end(signal)));
  const discard = () => rm(directory, { recursive: true, force: true, maxRetries: 3 });
  const nodeOf = (id: number) => {
    const node = nodes.find((candidate) => candidate.id === id);
    if (node === undefined) throw new Error(`there is no broker ${id}`);
    return node;
  };

  try {
    await startAll();
  } catch (error) {
    await endAll("SIGKILL");
    if (options.directory === undefined) await discard();
    throw error;
  }
  return {
    brokers: nodes.map(({ port }) => `${host ?? ownHost}:${port}`).join(","),
    other: `${host ?? ownHost}:${nodeOf(1).otherPort}`,
    async kill(id = 1) {
      await nodeOf(id).process?.end("SIGKILL");
    },
    async start(id = 1) {
      const node = nodeOf(id);
      if (node.process === undefined || node.process.hasEnded()) node.process = await launchNode(node);
    },
    async wipe() {
      await endAll("SIGKILL");
      await discard();
      await startAll();
    },
    freeze: (id = 1) => nodeOf(id).process?.pause(),
    thaw: (id = 1) => nodeOf(id).process?.resume(),
    async stop() {
      // A clean stop is not necessary for data that is deleted anyway.
      await endAll(options.directory === undefined ? "SIGKILL" : "SIGTERM");
      if (options.directory === undefined) await discard();
    },
  };
}

function launch({ libraries, classes }: Programs, { directory, port }: Node, scratch: string): Promise<EngineProcess> {
  const args = [
    classes,
    "-Xms128m",
    "-Xmx256m",
    "-XX:+UseSerialGC",
    // The second compiler does not pay off within a minute.
    "-XX:TieredStopAtLevel=1",
    `-Dlog4j2.configurationFile=${logSettings}`,
    ...["-cp", join(libraries, "*")],
    "kafka.Kafka",
    join(directory, "server.properties"),
  ];
  return startProcess({
    program: "java",
    args,
    cwd: directory,
    // The port opens as the last step.
    isReady: () => takesConnections(port),
    longestStartMs: startPatienceMs,
    scratch,
  });
}

/** Writes the settings, and makes an empty log if there is none. */
async function format(
  { libraries, classes }: Programs,
  {
    node,
    settings,
    cluster,
    accounts,
  }: {
    node: Node;
    settings: Record<string, string>;
    cluster: string;
    accounts: Readonly<Record<string, string>>;
  },
): Promise<void> {
  await mkdir(node.directory, { recursive: true });
  const file = join(node.directory, "server.properties");
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(file, lines.join(""));
  const tool = [
    classes,
    "-Xmx64m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-cp",
    join(libraries, "*"),
    "kafka.tools.StorageTool",
  ];
  const scram = Object.entries(accounts).flatMap(([name, password]) => [
    "--add-scram",
    `SCRAM-SHA-512=[name="${name}",password="${password}"]`,
  ]);
  const args = [...tool, "format", "--ignore-formatted", "-t", cluster, "-c", file, ...scram];
  await run("java", args, { timeout: startPatienceMs });
}

/** The cluster's name, the same for all of its brokers; the directory keeps it. */
async function clusterId(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true });
  const file = join(directory, "cluster-id");
  if (!existsSync(file)) {
    const drawn = Buffer.from(crypto.getRandomValues(new Uint8Array(16)));
    // A name with a dash at its start would be read as an option.
    drawn.writeUInt8(drawn.readUInt8(0) & 0x7f, 0);
    await writeFile(file, drawn.toString("base64url"));
  }
  return (await readFile(file, "utf8")).trim();
}

function settingsOf(
  node: Node,
  { nodes, protocol, host }: { nodes: readonly Node[]; protocol: string; host?: string | undefined },
): Record<string, string> {
  const replicas = String(nodes.length);
  const inSync = nodes.length === 1 ? "1" : "2";
  const ports = {
    CLIENTS: node.port,
    ...(protocol === "PLAINTEXT" ? {} : { OTHER: node.otherPort }),
    CONTROLLER: node.controllerPort,
  };
  const listenersAt = (clients: string) =>
    Object.entries(ports)
      .map(([name, port]) => `${name}://${name === "CONTROLLER" ? ownHost : clients}:${port}`)
      .join(",");
  return {
    "process.roles": "broker,controller",
    "node.id": String(node.id),
    "controller.quorum.voters": nodes.map(({ id, controllerPort }) => `${id}@127.0.0.1:${controllerPort}`).join(","),
    listeners: listenersAt(host === undefined ? ownHost : "0.0.0.0"),
    "advertised.listeners": listenersAt(host ?? ownHost),
    "listener.security.protocol.map": `CLIENTS:${protocol},OTHER:${protocol},CONTROLLER:PLAINTEXT`,
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "CLIENTS",
    "log.dirs": join(node.directory, "log"),
    "auto.create.topics.enable": "false",
    "num.partitions": "4",
    "default.replication.factor": replicas,
    "min.insync.replicas": inSync,
    "offsets.topic.replication.factor": replicas,
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": replicas,
    "transaction.state.log.min.isr": inSync,
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.replication.factor": replicas,
    "share.coordinator.state.topic.min.isr": inSync,
    "group.initial.rebalance.delay.ms": "0",
    // Tests must not wait ten seconds for a dead member.
    "group.min.session.timeout.ms": "1000",
    "log.cleaner.dedupe.buffer.size": "4194304",
    // By default each of hundreds of partitions has twenty megabytes of room for indexes, which those read who search its files.
    "log.index.size.max.bytes": "262144",
    // The partitions of a dead broker get another leader within seconds.
    "broker.session.timeout.ms": "4000",
    "broker.heartbeat.interval.ms": "1000",
    "controller.quorum.election.timeout.ms": "1000",
    "controller.quorum.fetch.timeout.ms": "2000",
  };
}

/** Below the ports of outgoing connections: a broker must get its own port again after a restart. */
const portRange = [20_000, 32_000] as const;

async function choosePorts(count: number, first: number | undefined): Promise<number[]> {
  if (first !== undefined) return Array.from({ length: count }, (_, index) => first + index);
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const start = randomInt(portRange[0], portRange[1] - count);
    const ports = Array.from({ length: count }, (_, index) => start + index);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return ports;
  }
  throw new Error(`no ${count} free ports were found between ${portRange.join(" and ")}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
