import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type CertificateRequest,
  createAuthority,
  type TestAuthority,
  writeCertificate,
} from "@tessera/testkit/certificates";
import { startTlsPostgres, type TlsPostgres } from "@tessera/testkit/engines/tls-postgres";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createLog } from "../telemetry/log.ts";
import { withClient } from "./administer.ts";
import { type Db, openDatabase } from "./database.ts";
import { sql } from "./sql.ts";

let ours: TestAuthority;
let other: TestAuthority;
let directory: string;
let server: TlsPostgres;
const opened: Db[] = [];

beforeAll(async () => {
  [ours, other] = await Promise.all([createAuthority(), createAuthority("another authority")]);
  directory = await mkdtemp(join(tmpdir(), "tessera-pg-tls-"));
  server = await startTlsPostgres({ ...(await ours.issue({ names: ["localhost"] })), authority: ours.certificate });
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((db) => db.close()));
});

afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

let folders = 0;

async function filesOf(request: CertificateRequest, { by = ours, trusts = ours } = {}) {
  folders += 1;
  const issued = await by.issue(request);
  return writeCertificate(join(directory, String(folders)), { ...issued, authority: trusts.certificate });
}

type Files = Awaited<ReturnType<typeof filesOf>>;

/** An address as docs/operations.md shows it. */
function urlOf(files: Files, { user = "postgres", host = "localhost" } = {}): string {
  const given = { sslmode: "verify-full", sslrootcert: files.authority, sslcert: files.certificate, sslkey: files.key };
  return `postgresql://${user}@${host}:${server.port}/postgres?${new URLSearchParams(given)}`;
}

function open(url: string): Db {
  const log = createLog({ service: "test", destination: { write: () => {} } });
  const db = openDatabase({ url, schema: "public", applicationName: "test", log });
  opened.push(db);
  return db;
}

/** How the connection is encrypted and for whom, else why there is none. */
function ask(url: string): Promise<unknown> {
  return open(url)
    .one(
      sql`select pg_stat_ssl.version, pg_stat_ssl.client_dn as subject from pg_stat_ssl where pid = pg_backend_pid()`,
    )
    .catch((error: { code: string; cause?: { code?: string; message: string } }) => [
      error.code,
      error.cause?.code ?? error.cause?.message,
    ]);
}

describe("PostgreSQL with TLS", () => {
  it("[S11.7] is reached with a client's certificate", async () => {
    const files = await filesOf({ names: ["boxoffice"], subject: "postgres" });
    expect(await ask(urlOf(files))).toEqual({ version: "TLSv1.3", subject: "/CN=postgres" });
    await withClient({ url: urlOf(files), purpose: "test" }, async (client) => {
      await client.query("create role guest login");
    });
    expect(await ask(urlOf(files, { user: "guest" }))).toMatchObject({ version: "TLSv1.3" });
  });

  it("[S11.7] is not used with an unknown authority or another name, nor in the clear", async () => {
    const files = await filesOf({ names: ["boxoffice"], subject: "postgres" });
    const refused = (reason: unknown) => ["database_unavailable", reason];
    const { authority } = await filesOf({ names: ["x"] }, { trusts: other });
    expect(await ask(urlOf({ ...files, authority }))).toEqual(refused(expect.stringMatching(/CERT|SIGNATURE/)));
    expect(await ask(urlOf(files, { host: "127.0.0.1" }))).toEqual(refused("ERR_TLS_CERT_ALTNAME_INVALID"));
    const clear = urlOf(files).replace("verify-full", "disable");
    expect(await ask(clear)).toEqual(refused("28000"));
    // The server knows no client by these certificates.
    expect(await ask(urlOf(await filesOf({ names: ["x"], subject: "stranger" })))).toEqual(refused("28000"));
    expect(await ask(urlOf(await filesOf({ names: ["x"], subject: "postgres" }, { by: other })))).toEqual(
      refused(expect.stringMatching(/ALERT|ECONNRESET|Connection terminated/)),
    );
  });

  it("[S11.4] is reached with exchanged files by connections that are made later", async () => {
    const files = await filesOf({ names: ["x"], subject: "stranger" });
    const db = open(urlOf(files));
    await expect(db.one(sql`select 1 as one`)).rejects.toMatchObject({ code: "database_unavailable" });
    const renewed = await ours.issue({ names: ["x"], subject: "postgres" });
    await writeCertificate(join(files.key, ".."), { ...renewed, authority: ours.certificate });
    expect(await db.one(sql`select 1 as one`)).toEqual({ one: 1 });
  });
});
