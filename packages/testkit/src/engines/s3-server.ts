import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import getPort from "get-port";
import { type EngineProcess, startProcess, takesConnections } from "./engine-process.ts";
import { goProgram } from "./go-program.ts";

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

export const s3Program = goProgram({
  name: "versitygw",
  version: "v1.8.0",
  source: "github.com/versity/versitygw/cmd/versitygw",
  remedy: "Install versitygw from its releases, or Go 1.24 or later.",
});

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
  const program = await s3Program.install();
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
