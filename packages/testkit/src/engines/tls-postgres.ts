import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findBinaries } from "@tessera/embedded-postgres/binaries";
import { createCluster } from "@tessera/embedded-postgres/create-cluster";
import { prepareDataPlace } from "@tessera/embedded-postgres/data-place";
import { readServerFile } from "@tessera/embedded-postgres/server-process";
import getPort from "get-port";
import type { IssuedCertificate } from "../certificates.ts";
import { startProcess } from "./engine-process.ts";

/** A PostgreSQL that admits no connection without TLS. */
export interface TlsPostgres {
  readonly port: number;
  /** Shows another certificate to connections that are made later. */
  exchange(issued: IssuedCertificate): Promise<void>;
  stop(): Promise<void>;
}

const ofThisMachine = [
  "hostssl all postgres 127.0.0.1/32 cert",
  "hostssl all guest 127.0.0.1/32 trust",
  "hostssl all all 127.0.0.1/32 scram-sha-256",
  "",
].join("\n");

/**
 * Starts a server with TLS. By default it listens on this machine alone, and admits `postgres` with a client certificate of
 * this subject, `guest` without one, and others with their password.
 */
export async function startTlsPostgres({
  authority,
  certificate,
  key,
  host = "127.0.0.1",
  admitted = ofThisMachine,
  settings: more = {},
}: IssuedCertificate & {
  /** The authority of clients. */
  readonly authority: string;
  readonly host?: string;
  /** Lines of `pg_hba.conf`. */
  readonly admitted?: string;
  /** Server settings that add to the built-in ones. */
  readonly settings?: Readonly<Record<string, string>>;
}): Promise<TlsPostgres> {
  const directory = await mkdtemp(join(tmpdir(), "tessera-postgres-tls-"));
  const log = () => {};
  const place = await prepareDataPlace({ directory, log });
  const binaries = await findBinaries({ account: place.account, log });
  await createCluster({ place, binaries, durable: false, log });
  const data = join(place.directory, "data");
  const write = async (name: string, text: string) => {
    const path = join(data, name);
    await writeFile(path, text, { mode: 0o600 });
    if (place.account !== undefined) await chown(path, place.account.uid, place.account.gid);
    return path;
  };
  const port = await getPort({ host });
  const settings = {
    ssl_cert_file: await write("server.crt", certificate),
    ssl_key_file: await write("server.key", key),
    ssl: "on",
    ssl_ca_file: await write("clients.crt", authority),
    hba_file: await write("hba.conf", admitted),
    listen_addresses: host,
    port: String(port),
    unix_socket_directories: "",
    fsync: "off",
    ...more,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = await startProcess({
    program: binaries.postgres,
    args: ["-D", data, ...flags],
    cwd: "/",
    env: { LC_ALL: "C", TZ: "UTC" },
    account: place.account,
    isReady: async () => (await readServerFile(data))?.status === "ready",
    scratch: directory,
  });
  return {
    port,
    async exchange(issued) {
      await write("server.crt", issued.certificate);
      await write("server.key", issued.key);
      process.kill(server.pid, "SIGHUP");
    },
    async stop() {
      await server.end("SIGTERM");
      await rm(directory, { recursive: true, force: true });
    },
  };
}
