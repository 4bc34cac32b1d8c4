import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { Secret } from "@tessera/kit/config/redacted";
import { type S3Server, startS3 } from "@tessera/testkit/engines/s3-server";
import { bytesOf, chunksOf, collect, filesContract, getFile } from "@tessera/testkit/files-contract";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type S3FilesOptions, s3Files } from "./s3.ts";

const text = { contentType: "text/plain" };
const megabyte = 1024 * 1024;

let server: S3Server;
// The first time on a machine it is built.
beforeAll(async () => {
  server = await startS3();
}, 600_000);
afterAll(() => server.stop());
beforeEach(async () => {
  server.resume();
  await server.start();
});

let serial = 0;
const freshPrefix = () => {
  serial += 1;
  return `test${serial}/`;
};

function open(options: Partial<S3FilesOptions> = {}) {
  return s3Files({
    endpoint: server.endpoint,
    bucket: server.bucket,
    pathStyle: true,
    prefix: freshPrefix(),
    credentials: { accessKeyId: server.accessKey, secretAccessKey: new Secret(server.secretKey) },
    ...options,
  });
}

const unavailable = expect.objectContaining({ kind: "unavailable", code: "files_unavailable" });

filesContract("S3", async () => {
  const files = open();
  return { files, close: () => files.close() };
});

describe("an S3 server", () => {
  it("keeps deployments apart by their prefix, and has others in the bucket", async () => {
    const [mine, theirs] = [open({ prefix: "mine/" }), open({ prefix: "mine/too/" })];
    await mine.put("a", Buffer.from("mine"), text);
    await theirs.put("a", Buffer.from("theirs"), text);
    expect((await buffer((await getFile(mine, "a")).content)).toString()).toBe("mine");
    expect((await collect(theirs.list(""))).map(({ key }) => key)).toEqual(["a"]);
    await theirs.remove(["a"]);
    expect((await collect(mine.list(""))).map(({ key }) => key)).toEqual(["a"]);
  });

  it("keeps no parts of what was not completed", async () => {
    const files = open({ prefix: "parts/" });
    async function* failing() {
      yield* chunksOf(30 * megabyte);
      throw new Error("the source has failed");
    }
    await expect(files.put("a", failing(), text)).rejects.toThrow("the source has failed");
    expect(await collect(files.listUnfinished(""))).toEqual([]);
  });

  it("is told from one that refuses: wrong key, wrong bucket", async () => {
    const wrongKey = open({
      credentials: { accessKeyId: server.accessKey, secretAccessKey: new Secret("wrong-secret") },
    });
    const wrongBucket = open({ bucket: "nowhere" });
    for (const files of [wrongKey, wrongBucket]) {
      const refused = expect.objectContaining({
        kind: "unavailable",
        message: expect.stringMatching(/refuses the request \((?:SignatureDoesNotMatch|NoSuchBucket)\)/),
      });
      await expect(files.put("a", Buffer.from("x"), text)).rejects.toEqual(refused);
      await expect(files.get("a")).rejects.toEqual(refused);
      await expect(files.remove(["a"])).rejects.toEqual(refused);
      await expect(collect(files.list(""))).rejects.toEqual(refused);
      await expect(collect(files.listUnfinished(""))).rejects.toEqual(refused);
      await expect(files.removeUnfinished(["a"])).rejects.toEqual(refused);
    }
    const shown = await wrongKey.get("a").catch((error: unknown) => JSON.stringify(error));
    expect(shown).not.toContain("wrong-secret");
  });

  it("is away: everything says so, soon", async () => {
    const files = open();
    await server.kill();
    const started = Date.now();
    const asked = [
      files.put("a", Buffer.from("x"), text),
      files.put("a", chunksOf(1000), text),
      files.get("a"),
      files.remove(["a"]),
      collect(files.list("")),
      collect(files.listUnfinished("")),
      files.removeUnfinished(["a"]),
    ];
    await Promise.all(asked.map((answer) => expect(answer).rejects.toEqual(unavailable)));
    expect(Date.now() - started).toBeLessThan(10_000);
    await server.start();
    expect(await files.get("a")).toBeUndefined();
    await files.put("a", Buffer.from("back"), text);
    expect((await buffer((await getFile(files, "a")).content)).toString()).toBe("back");
  });

  it("is frozen: no call waits for it longer than three times the limit", async () => {
    const files = open({ timeoutMs: 500 });
    await files.put("a", Buffer.from("x"), text);
    server.pause();
    // The signal reaches the server's threads one after the other.
    await sleep(300);
    const started = Date.now();
    await expect(files.get("a")).rejects.toEqual(unavailable);
    await expect(files.put("b", chunksOf(20 * megabyte), text)).rejects.toEqual(unavailable);
    expect(Date.now() - started).toBeLessThan(10_000);
    server.resume();
    expect((await buffer((await getFile(files, "a")).content)).toString()).toBe("x");
  });

  it("ends in the middle of a put: that is a fault, and the earlier file stays", async () => {
    const files = open();
    await files.put("a", Buffer.from("earlier"), text);
    let sent = 0;
    async function* slowly() {
      for await (const chunk of chunksOf(60 * megabyte)) {
        sent += chunk.length;
        if (sent > 20 * megabyte && sent < 21 * megabyte) await sleep(20);
        yield chunk;
      }
    }
    const putting = files.put("a", slowly(), text);
    await expect.poll(() => sent).toBeGreaterThan(20 * megabyte);
    await server.kill();
    await expect(putting).rejects.toEqual(unavailable);
    await server.start();
    expect((await buffer((await getFile(files, "a")).content)).toString()).toBe("earlier");
    expect((await collect(files.list(""))).map(({ key }) => key)).toEqual(["a"]);
  });

  it("restarts in the middle of a put: the put goes on", async () => {
    const files = open();
    let sent = 0;
    async function* content() {
      for await (const chunk of chunksOf(40 * megabyte)) {
        sent += chunk.length;
        if (sent === 20 * megabyte) {
          await server.kill();
          await server.start();
        }
        yield chunk;
      }
    }
    const { size } = await files.put("a", content(), text);
    const found = await getFile(files, "a");
    expect(size).toBe(40 * megabyte);
    expect((await buffer(found.content)).equals(await bytesOf(40 * megabyte))).toBe(true);
  });

  it("[S10.4] ends in the middle of a read: that is a fault, and never a short file", async () => {
    const files = open();
    await files.put("a", chunksOf(40 * megabyte), text);
    const found = await getFile(files, "a");
    let read = 0;
    const reading = (async () => {
      for await (const chunk of found.content) {
        if (read === 0) await server.kill();
        read += (chunk as Buffer).length;
      }
    })();
    await expect(reading).rejects.toEqual(unavailable);
    expect(read).toBeLessThan(40 * megabyte);
  });

  it("ends while nothing reads: nothing breaks until something does", async () => {
    const files = open();
    await files.put("a", chunksOf(40 * megabyte), text);
    const found = await getFile(files, "a");
    await server.kill();
    await sleep(200);
    await expect(buffer(found.content)).rejects.toEqual(unavailable);
  });
});
