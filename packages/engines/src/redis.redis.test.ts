import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { cacheContract } from "@tessera/testkit/cache-contract";
import { createAuthority, writeCertificate } from "@tessera/testkit/certificates";
import { describeEachRedis } from "@tessera/testkit/each-redis";
import { type RedisServer, startRedis } from "@tessera/testkit/engines/redis-server";
import { connectedCache, watchedCache } from "@tessera/testkit/redis-cache";
import getPort from "get-port";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

let serial = 0;

describeEachRedis("%s", (flavour) => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis({ flavour });
  });
  afterAll(() => server.stop());

  cacheContract(flavour, async () => {
    serial += 1;
    const prefix = `test${serial}:`;
    const first = await connectedCache(server.url, { prefix });
    const opened = [first];
    return {
      cache: first.cache,
      async another() {
        const other = await connectedCache(server.url, { prefix });
        opened.push(other);
        return other.cache;
      },
      close: async () => {
        await Promise.all(opened.map(({ cache }) => cache.close()));
      },
    };
  });

  it("keeps deployments apart by their prefix", async () => {
    const [mine, theirs] = [
      await connectedCache(server.url, { prefix: "mine:" }),
      await connectedCache(server.url, { prefix: "theirs:" }),
    ];
    const heard: string[] = [];
    mine.cache.onHint("news", (text) => heard.push(`mine ${text}`));
    theirs.cache.onHint("news", (text) => heard.push(`theirs ${text}`));
    theirs.cache.hint("news", "1");
    const limits = { name: "a", attempts: 1, windowMs: 60_000 };
    expect((await mine.cache.limiter(limits).take("key")).allowed).toBe(true);
    expect((await theirs.cache.limiter(limits).take("key")).allowed).toBe(true);
    await vi.waitFor(() => expect(heard).toEqual(["theirs 1"]));
    await Promise.all([mine.cache.close(), theirs.cache.close()]);
  });

  it("[S10.3] listens to nobody who writes something else on its channel", async () => {
    const mine = await connectedCache(server.url, { prefix: "odd:" });
    const heard: string[] = [];
    mine.cache.onHint("news", (text) => heard.push(text));
    for (const text of ["", "x", "{}", "[]", '["a","news"]', '["a","news",1]', '["a","news","good"]'])
      await server.command("PUBLISH", "odd:hints", text);
    await vi.waitFor(() => expect(heard).toEqual(["good"]));
    expect(mine.lines).toEqual([]);
    await mine.cache.close();
  });
});

describe("TLS", () => {
  let directory: string;
  let server: RedisServer;
  let url: string;
  let files: Awaited<ReturnType<typeof writeCertificate>>;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "tessera-tls-"));
    const authority = await createAuthority();
    const issued = await authority.issue({ names: ["127.0.0.1"] });
    files = await writeCertificate(directory, { ...issued, authority: authority.certificate });
    const port = await getPort({ host: "127.0.0.1" });
    server = await startRedis({
      flavour: "redis",
      settings: [
        ...["--tls-port", String(port), "--tls-auth-clients", "no"],
        ...["--tls-cert-file", files.certificate, "--tls-key-file", files.key],
        ...["--tls-ca-cert-file", files.authority],
      ],
    });
    url = `rediss://127.0.0.1:${port}`;
  });
  afterAll(async () => {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  });

  it("is spoken with a server whose certificate can be trusted", async () => {
    const program = `
      import { connectedCache, watchedCache } from ${JSON.stringify(import.meta.resolve("@tessera/testkit/redis-cache"))};
      const { cache } = await connectedCache(process.argv[1]);
      const limiter = cache.limiter({ name: "tls", attempts: 5, windowMs: 60000 });
      await limiter.take("key");
      await cache.close();`;
    await promisify(execFile)(process.execPath, ["--conditions=source", "--input-type=module", "-e", program, url], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: files.authority },
    });
    expect(await server.command("GET", "tessera:limit:tls:60:key")).toBe("$1\r\n1\r\n");
  });

  it("is refused with any other", async () => {
    const opened = watchedCache(url);
    await vi.waitFor(() => expect(opened.lines).toHaveLength(1));
    expect(await opened.isUsable()).toBe(false);
    await opened.cache.close();
  });
});
