import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { examineDatabase } from "@tessera/cli/doctor/examine-database";
import { withClient } from "@tessera/kit/pg/administer";
import { createAuthority, type TestAuthority, writeCertificate } from "@tessera/testkit/certificates";
import { startTlsPostgres, type TlsPostgres } from "@tessera/testkit/engines/tls-postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { examineEngine } from "./examine-engine.ts";

let authority: TestAuthority;
let directory: string;
let server: TlsPostgres;

beforeAll(async () => {
  authority = await createAuthority();
  directory = await mkdtemp(join(tmpdir(), "tessera-database-tls-"));
  await writeFile(join(directory, "other.pem"), (await createAuthority("another authority")).certificate);
  const trusted = { authority: authority.certificate };
  server = await startTlsPostgres({ ...(await authority.issue({ names: ["localhost"] })), ...trusted });
  const administrator = await authority.issue({ names: ["x"], subject: "postgres" });
  const files = await writeCertificate(directory, { ...administrator, ...trusted });
  const shown = `&sslcert=${files.certificate}&sslkey=${files.key}`;
  await withClient({ url: urlOf({ user: "postgres" }) + shown, purpose: "test" }, async (client) => {
    await client.query("create role checkin login password 'pw-checkin'");
  });
});
afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

interface Attempt {
  readonly user?: string;
  readonly host?: string;
  readonly trusts?: string;
}

/** An address as docs/operations.md shows it. */
function urlOf({ user = "checkin:pw-checkin", host = "localhost", trusts = "ca.pem" }: Attempt): string {
  return `postgresql://${user}@${host}:${server.port}/postgres?sslmode=verify-full&sslrootcert=${join(directory, trusts)}`;
}

const examine = (attempt: Attempt = {}) => examineEngine(examineDatabase, { DATABASE_URL: urlOf(attempt) });

it("[S11.7] [S11.11] a database with TLS is used with a password, and the doctor says why it cannot be", async () => {
  const refused = (why: string, host = "localhost") =>
    `wrong: the database at ${host}:${server.port}/postgres cannot be used | ${why}`;
  expect(await examine()).toMatch(
    new RegExp(`^ok: PostgreSQL \\d+\\.\\d+ at localhost:${server.port}/postgres answers$`),
  );
  expect(await examine({ trusts: "other.pem" })).toBe(
    refused(
      "the authority of its certificate is unknown here (SELF_SIGNED_CERT_IN_CHAIN) | set sslrootcert in DATABASE_URL to a file with that authority",
    ),
  );
  expect(await examine({ host: "127.0.0.1" })).toBe(
    refused(
      "its certificate is for another name (ERR_TLS_CERT_ALTNAME_INVALID) | use the name that the certificate is for",
      "127.0.0.1",
    ),
  );
  expect(await examine({ user: "checkin:wrong" })).toBe(
    refused("the password is refused (28P01) | correct the password in DATABASE_URL"),
  );
  await server.exchange(await authority.issue({ names: ["localhost"], until: new Date(Date.now() - 1000) }));
  await expect
    .poll(() => examine())
    .toBe(refused("its certificate has expired (CERT_HAS_EXPIRED) | renew it, and look at the clock of this machine"));
});
