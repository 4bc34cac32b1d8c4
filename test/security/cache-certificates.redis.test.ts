import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { examineCache } from "@tessera/cli/doctor/examine-stores";
import { createAuthority, type TestAuthority, writeCertificate } from "@tessera/testkit/certificates";
import { findRedis, type RedisServer, startRedis } from "@tessera/testkit/engines/redis-server";
import { connectedCache, watchedCache } from "@tessera/testkit/redis-cache";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { examineEngine } from "./examine-engine.ts";

// The Valkey that Python installs is built without TLS.
const found = findRedis("redis");

it.for(found.available ? [] : [found])("a Redis that speaks TLS can be had here", (absent, { skip }) => {
  skip(`${absent.reason}. ${absent.remedy}`);
  expect(absent.available).toBe(true);
});

describe.runIf(found.available)("Redis with TLS", () => {
  let authority: TestAuthority;
  let directory: string;
  let server: RedisServer;

  beforeAll(async () => {
    authority = await createAuthority();
    directory = await mkdtemp(join(tmpdir(), "tessera-redis-tls-"));
    await writeFile(join(directory, "other.pem"), (await createAuthority("another authority")).certificate);
    server = await startRedis({ flavour: "redis", tls: await writeFiles() });
    await server.command("ACL", "SETUSER", "tessera", "on", ">pw-tessera", "allkeys", "allchannels", "allcommands");
  });
  afterAll(async () => {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  });

  async function writeFiles(until = new Date(Date.now() + 3_600_000)) {
    const issued = await authority.issue({ names: ["localhost"], until });
    return writeCertificate(directory, { ...issued, authority: authority.certificate });
  }

  const urlOf = ({ password = "pw-tessera", host = "localhost" } = {}) =>
    `rediss://tessera:${password}@${host}:${server.tlsPort}`;

  const examine = ({ trusts = "ca.pem", ...where }: { trusts?: string; password?: string; host?: string } = {}) =>
    examineEngine(examineCache, { CACHE: "redis", REDIS_URL: urlOf(where), REDIS_TLS_CA: join(directory, trusts) });

  it("[S11.10] is used if its authority is known, and not otherwise", async () => {
    const { cache } = await connectedCache(urlOf(), { authority: join(directory, "ca.pem") });
    await cache.limiter({ name: "tls", attempts: 5, windowMs: 60_000 }).take("key");
    await cache.close();
    expect(await server.command("GET", "tessera:limit:tls:60:key")).toBe("$1\r\n1\r\n");
    for (const authority of [undefined, join(directory, "other.pem")]) {
      const opened = watchedCache(urlOf(), { authority });
      await expect.poll(() => opened.lines).toHaveLength(1);
      expect(await opened.isUsable()).toBe(false);
      await opened.cache.close();
    }
  });

  it("[S11.11] is examined by the doctor, who says why it cannot be used", async () => {
    const independent = "; the platform works without it; until it is back, each process counts limits for itself";
    const refused = (why: string, mend: string, host = "localhost") =>
      `warning: Redis at ${host}:${server.tlsPort} cannot be used | ${why}${independent} | ${mend}`;
    expect(await examine()).toMatch(
      new RegExp(`^ok: Redis \\d+\\.\\d+\\.\\d+ at localhost:${server.tlsPort} answers$`),
    );
    expect(await examine({ trusts: "other.pem" })).toBe(
      refused(
        "the authority of its certificate is unknown here (SELF_SIGNED_CERT_IN_CHAIN)",
        "set REDIS_TLS_CA to a file with that authority",
      ),
    );
    expect(await examine({ host: "127.0.0.1" })).toBe(
      refused(
        "its certificate is for another name (ERR_TLS_CERT_ALTNAME_INVALID)",
        "use the name that the certificate is for",
        "127.0.0.1",
      ),
    );
    expect(await examine({ password: "wrong" })).toBe(
      `wrong: Redis at localhost:${server.tlsPort} refuses what it is asked (WRONGPASS) | ${independent.slice(2)} | correct user and password in REDIS_URL`,
    );
    const { certificate } = await writeFiles(new Date(Date.now() - 1000));
    expect(await server.command("CONFIG", "SET", "tls-cert-file", certificate)).toBe("+OK\r\n");
    expect(await examine()).toBe(
      refused("its certificate has expired (CERT_HAS_EXPIRED)", "renew it, and look at the clock of this machine"),
    );
  });
});
