import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { aList } from "../testing/fake-peers.ts";
import { inEvent, keys } from "../testing/serve-app.ts";
import { noRoom, redeemPath, roomForAll, type ServedCrowd, serveCrowd, warmUp } from "../testing/serve-crowd.ts";

let app: ServedCrowd;
beforeAll(async () => {
  app = await serveCrowd();
});
afterAll(() => app.close());

beforeEach(async () => {
  app.crowd = noRoom;
  await warmUp(app);
});

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

interface Answer {
  readonly status: number;
  readonly id: string | undefined;
  readonly isLast: boolean;
}

/** A connection on which a test writes what it likes. */
function open(on: ServedCrowd = app) {
  const socket = connect(on.port, "127.0.0.1");
  undo.push(() => socket.destroy());
  let received = "";
  socket.on("data", (piece: Buffer) => (received += piece.toString()));
  const answers = (): Answer[] =>
    received.split(/(?=HTTP\/1\.1 )/).map((text) => ({
      status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]),
      id: /^X-Request-Id: (\S+)/im.exec(text)?.[1],
      isLast: /^Connection: close/im.test(text),
    }));
  return {
    socket,
    received: () => received,
    closed: new Promise((resolve) => socket.once("close", resolve)),
    /** The answers that have begun, once there are so many. */
    async answered(count: number): Promise<Answer[]> {
      await expect.poll(() => received.match(/HTTP\/1\.1 /g)?.length, { timeout: 5000 }).toBe(count);
      return answers();
    },
  };
}

const body = JSON.stringify({ nonce: "abc" });

/** The head of a request; by default, of a scan with the usual body. */
function head(id: string, { method = "POST", path = redeemPath("abc"), headers = [lengthOf(body)] } = {}): string {
  const lines = [`${method} ${path} HTTP/1.1`, "Host: a", `Authorization: Token ${keys.all}`, `X-Request-Id: ${id}`];
  return `${[...lines, "Content-Type: application/json", ...headers].join("\r\n")}\r\n\r\n`;
}

function lengthOf(text: string): string {
  return `Content-Length: ${Buffer.byteLength(text)}`;
}

const scan = (id: string) => head(id) + body;

const refused = (id: string): Answer => ({ status: 429, id, isLast: false });

/** Counts how often it was asked for room. */
function countAsked(on: ServedCrowd = app): () => number {
  let asked = 0;
  on.crowd = {
    ...noRoom,
    refuse(request) {
      asked += 1;
      return noRoom.refuse(request);
    },
  };
  return () => asked;
}

/** A round trip: what was written before has been read by then. */
const roundTrip = (on: ServedCrowd) => on.send("OPTIONS", redeemPath("abc"));

describe("the connection of a scan that was refused early", () => {
  it("takes the next request", async () => {
    const { socket, answered } = open();
    socket.write(scan("scan-of-a-crowd"));
    expect(await answered(1)).toEqual([refused("scan-of-a-crowd")]);
    expect(app.seen).toEqual([]);
    app.crowd = roomForAll;
    socket.write(scan("scan-with-room"));
    expect((await answered(2))[1]).toEqual({ status: 201, id: "scan-with-room", isLast: false });
  });

  it("takes scans that are sent ahead, and answers them in their order", async () => {
    const { socket, answered } = open();
    const ids = ["ahead-one", "ahead-two", "ahead-three"];
    socket.write(ids.map(scan).join(""));
    expect(await answered(3)).toEqual(ids.map(refused));
    expect(app.seen).toEqual([]);
  });

  it("answers a scan after the request before it, however long that takes", async () => {
    const held = Promise.withResolvers<void>();
    app.peers.when("checkinLists", "listCheckinLists", async () => {
      await held.promise;
      return { lists: [aList()], count: 1, page: 1, isUnchanged: false };
    });
    const { socket, answered, received } = open();
    const asked = countAsked();
    const list = head("list-first", { method: "GET", path: `${inEvent}/checkinlists/`, headers: [] });
    socket.write(list + scan("scan-behind") + scan("scan-behind-it"));
    await expect.poll(asked).toBe(2);
    await roundTrip(app);
    expect(received()).toBe("");
    held.resolve();
    expect(await answered(3)).toEqual([
      { status: 200, id: "list-first", isLast: false },
      refused("scan-behind"),
      refused("scan-behind-it"),
    ]);
  });
});

describe("the body of a scan without room", () => {
  it("is waited for, in however many packets it comes", async () => {
    const { socket, answered, received } = open();
    const asked = countAsked();
    socket.setNoDelay(true);
    socket.write(head("scan-in-pieces") + body.slice(0, 2));
    await expect.poll(asked).toBe(1);
    for (const piece of [body.slice(2, 5), body.slice(5, -1)]) {
      socket.write(piece);
      await roundTrip(app);
    }
    expect(received()).toBe("");
    socket.write(body.slice(-1) + scan("scan-after-it"));
    expect(await answered(2)).toEqual([refused("scan-in-pieces"), refused("scan-after-it")]);
  });

  it("that never ends costs neither a count nor a line of the log", async () => {
    const { socket, closed } = open();
    const asked = countAsked();
    socket.write(head("scan-of-one-gone") + body.slice(0, 2));
    await expect.poll(asked).toBe(1);
    const before = [await app.metrics.exposition(), app.logged.length];
    socket.destroy();
    await closed;
    app.crowd = roomForAll;
    await app.send("POST", redeemPath("abc"), { body: { nonce: "abc" } });
    const count = (text: string) => /^tessera_http_too_many_requests_total\{.*$/m.exec(text)?.[0];
    expect(count(await app.metrics.exposition())).toBe(count(String(before[0])));
    expect(app.logged).toHaveLength(Number(before[1]));
  });

  /** A body of so many bytes. */
  const large = (bytes: number) => JSON.stringify({ nonce: "a" }) + " ".repeat(bytes - '{"nonce":"a"}'.length);

  it.each([
    ["of 8 KiB is small", 0, [lengthOf(large(8192))], large(8192)],
    ["of more than 8 KiB takes the usual way", 1, [lengthOf(large(8193))], large(8193)],
    ["in chunks takes the usual way", 1, ["Transfer-Encoding: chunked"], `5\r\n{"non\r\n8\r\nce":"a"}\r\n0\r\n\r\n`],
  ])("%s, and the connection goes on", async (_what, seen, headers, sent) => {
    const { socket, answered } = open();
    socket.write(head("scan-with-body", { headers }) + sent);
    expect(await answered(1)).toEqual([refused("scan-with-body")]);
    expect(app.seen).toHaveLength(seen);
    socket.write(scan("scan-after-it"));
    expect((await answered(2))[1]).toEqual(refused("scan-after-it"));
    expect(app.seen).toHaveLength(seen);
  });

  it("that is announced with `Expect: 100-continue` is asked for, and takes the usual way", async () => {
    const { socket, answered } = open();
    socket.write(head("scan-expecting", { headers: [lengthOf(body), "Expect: 100-continue"] }));
    expect(await answered(1)).toMatchObject([{ status: 100 }]);
    socket.write(body);
    expect((await answered(2))[1]).toEqual(refused("scan-expecting"));
    expect(app.seen).toHaveLength(1);
    socket.write(scan("scan-after-it"));
    expect((await answered(3))[2]).toEqual(refused("scan-after-it"));
  });
});

describe("a scan without room is refused on a connection that ends with it", () => {
  async function serveAnother(): Promise<ServedCrowd> {
    const another = await serveCrowd();
    undo.push(() => another.close());
    await warmUp(another);
    return another;
  }

  it("when its head arrives after the process began to stop", async () => {
    const stopping = await serveAnother();
    const { socket, answered, closed } = open(stopping);
    const text = scan("scan-at-the-end");
    socket.write(text.slice(0, 10));
    await roundTrip(stopping);
    stopping.seen.splice(0);
    const stopped = stopping.close();
    socket.write(text.slice(10));
    expect(await answered(1)).toEqual([{ ...refused("scan-at-the-end"), isLast: true }]);
    expect(stopping.seen).toHaveLength(1);
    await Promise.all([closed, stopped]);
  });

  it("when its body arrives after the process began to stop", async () => {
    const stopping = await serveAnother();
    const { socket, answered, closed } = open(stopping);
    const asked = countAsked(stopping);
    socket.write(head("scan-at-the-end") + body.slice(0, 5));
    await expect.poll(asked).toBe(1);
    const stopped = stopping.close();
    socket.write(body.slice(5));
    expect(await answered(1)).toEqual([{ ...refused("scan-at-the-end"), isLast: true }]);
    expect(stopping.seen).toEqual([]);
    await Promise.all([closed, stopped]);
  });
});
