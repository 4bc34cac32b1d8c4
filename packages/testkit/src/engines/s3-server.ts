import { mkdir, mkdtemp, rm } from "node:fs/promises";
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
  takesConnections,
} from "./engine-process.ts";

export interface S3Server {
  readonly endpoint: string;
  /** An existing bucket. URLs have it in the path. */
  readonly bucket: string;
  readonly accessKey: string;
  readonly secretKey: string;
  /** Ends it like a crash. */
  kill(): Promise<void>;
  /** Freezes it: connections stay open without answers. */
  pause(): void;
  resume(): void;
  /** Starts it again at the same address with the same files. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const version = "v1.8.0";
const folderName = `versitygw-${version}`;

/** Whether this machine can run an S3 server. */
export function findS3(): Availability {
  const installed = isExecutable(join(enginesFolder(), folderName, "versitygw"));
  if (installed || findProgram("versitygw") !== undefined || findProgram("go") !== undefined)
    return { available: true };
  return {
    available: false,
    reason: "there is no versitygw on the PATH and no Go to build one",
    remedy: "Install versitygw from its releases, or Go 1.24 or later.",
  };
}

/** Starts an S3 server on a folder. The first start on a machine builds it, which takes a minute or two. */
export async function startS3(
  options: {
    readonly directory?: string;
    /** By default this machine alone reaches it. */
    readonly host?: string;
    /** Files of a certificate for its address: it then speaks TLS. */
    readonly tls?: { readonly certificate: string; readonly key: string };
  } = {},
): Promise<S3Server> {
  const { host = "127.0.0.1", tls } = options;
  const program = await installS3();
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), "tessera-s3-")));
  const [objects, attributes] = [join(directory, "objects"), join(directory, "attributes")];
  const bucket = "tessera";
  await mkdir(join(objects, bucket), { recursive: true });
  await mkdir(attributes, { recursive: true });
  const port = await getPort({ host });
  const endpoint = `${tls === undefined ? "http" : "https"}://${host}:${port}`;
  const encryption = tls === undefined ? [] : ["--cert", tls.certificate, "--key", tls.key];
  const [accessKey, secretKey] = ["tessera-tests", "not-a-secret-of-anybody"];
  const start = () =>
    startProcess({
      program,
      // Attributes in separate files: not every file system supports attributes.
      args: ["--port", `${host}:${port}`, "--quiet", ...encryption, "posix", "--sidecar", attributes, objects],
      cwd: directory,
      env: { ROOT_ACCESS_KEY: accessKey, ROOT_SECRET_KEY: secretKey },
      isReady: async () =>
        tls === undefined
          ? (await fetch(endpoint, { signal: AbortSignal.timeout(1000) })).status < 500
          : takesConnections(port, host),
    });
  let running: EngineProcess = await start();
  return {
    endpoint,
    bucket,
    accessKey,
    secretKey,
    kill: () => running.end("SIGKILL"),
    pause: () => running.pause(),
    resume: () => running.resume(),
    async start() {
      if (running.hasEnded()) running = await start();
    },
    async stop() {
      await running.end("SIGTERM");
      if (options.directory === undefined) await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Finds the server's program, and builds it if necessary. */
export async function installS3(): Promise<string> {
  const found = findS3();
  if (!found.available) throw new Error(`${found.reason}. ${found.remedy}`);
  const program = findProgram("versitygw");
  if (program !== undefined) return program;
  // Tests run it for seconds: compiling takes longer than unoptimized code, C and debug data do.
  const plain = ["-gcflags=all=-N -l", "-ldflags=-s -w"];
  const source = `github.com/versity/versitygw/cmd/versitygw@${version}`;
  const folder = await installOnce(folderName, (draft) =>
    runInstaller("go", ["install", ...plain, source], { env: { GOBIN: draft, CGO_ENABLED: "0" } }),
  );
  return join(folder, "versitygw");
}
