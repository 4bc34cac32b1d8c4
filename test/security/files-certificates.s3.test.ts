import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { examineFiles } from "@tessera/cli/doctor/examine-stores";
import { createAuthority, type TestAuthority, writeCertificate } from "@tessera/testkit/certificates";
import { type S3Server, startS3 } from "@tessera/testkit/engines/s3-server";
import { afterAll, beforeAll, expect, it } from "vitest";
import { examineEngine } from "./examine-engine.ts";

let authority: TestAuthority;
let directory: string;
const servers: S3Server[] = [];

beforeAll(async () => {
  authority = await createAuthority();
  directory = await mkdtemp(join(tmpdir(), "tessera-s3-tls-"));
  await writeFile(join(directory, "ca.pem"), authority.certificate);
  await writeFile(join(directory, "other.pem"), (await createAuthority("another authority")).certificate);
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  await rm(directory, { recursive: true, force: true });
});

async function start(name: string, until: Date): Promise<S3Server> {
  const issued = await authority.issue({ names: ["localhost"], until });
  const tls = await writeCertificate(join(directory, name), { ...issued, authority: authority.certificate });
  const server = await startS3({ tls });
  servers.push(server);
  return server;
}

function examine(
  server: S3Server,
  { secretKey = server.secretKey, host = "localhost", trusts = "ca.pem" } = {},
): Promise<string> {
  return examineEngine(examineFiles, {
    FILES: "s3",
    S3_ENDPOINT: server.endpoint.replace("127.0.0.1", host),
    S3_TLS_CA: join(directory, trusts),
    S3_BUCKET: server.bucket,
    S3_PATH_STYLE: "on",
    S3_ACCESS_KEY_ID: server.accessKey,
    S3_SECRET_ACCESS_KEY: secretKey,
  });
}

// The first time on a machine the server is built.
it("[S11.10] [S11.11] a file store with TLS is used, and the doctor says why it cannot be", {
  timeout: 600_000,
}, async () => {
  const refused = (why: string) => `wrong: the bucket tessera cannot be used | ${why}`;
  const server = await start("current", new Date(Date.now() + 3_600_000));
  expect(await examine(server)).toBe("ok: the bucket tessera stores files and returns them");
  expect(await examine(server, { trusts: "other.pem" })).toBe(
    refused(
      "the authority of its certificate is unknown here (UNABLE_TO_VERIFY_LEAF_SIGNATURE) | set S3_TLS_CA to a file with that authority",
    ),
  );
  expect(await examine(server, { host: "127.0.0.1" })).toBe(
    refused(
      "its certificate is for another name (ERR_TLS_CERT_ALTNAME_INVALID) | use the name that the certificate is for",
    ),
  );
  expect(await examine(server, { secretKey: "wrong" })).toMatch(
    /^wrong: the bucket tessera cannot be used \| The request signature .* \| look at .* the credentials and their rights$/,
  );
  const expired = await start("expired", new Date(Date.now() - 1000));
  expect(await examine(expired)).toBe(
    refused("its certificate has expired (CERT_HAS_EXPIRED) | renew it, and look at the clock of this machine"),
  );
});
