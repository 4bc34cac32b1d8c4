import { request as httpRequest } from "node:http";
import { gunzipSync } from "node:zlib";
import { Fault } from "@tessera/kit/fault";
import type {
  ReadChangesRequest,
  ReadChangesResponse,
  ReadPackRequest,
} from "@tessera/protos/gen/ticketing/checkin/v1/sync";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { requireDocumented } from "../../testing/require-documented.ts";
import { devices, inEvent, keys, type ServedApp, serveApp } from "../../testing/serve-app.ts";

const feed = "/api/v1/organizers/bigevents/sync/";

const part = (cursor: string, lines: string, { isComplete = true } = {}): ReadChangesResponse => ({
  ...{ cursor, lines: Buffer.from(lines), isComplete, isTooOld: false },
});

let app: ServedApp;
let asked: ReadChangesRequest[];
let parts: (ReadChangesResponse | Error)[];

beforeEach(async () => {
  app = await serveApp();
  [asked, parts] = [[], [part("c1", '{"kind":"item"}\n')]];
  app.peers.when("sync", "readChanges", async (request) => {
    asked.push(request);
    const next = parts.shift();
    if (next === undefined) throw new Error("nothing more was expected to be read");
    if (next instanceof Error) throw next;
    return next;
  });
});
afterEach(async () => {
  requireDocumented(app);
  await app.close();
});

describe("sync/", () => {
  it("[F1.1, F1.4] streams parts until there is no more, each with its cursor", async () => {
    parts = [
      part("c1", '{"kind":"event"}\n', { isComplete: false }),
      part("c2", "", { isComplete: false }),
      part("c3", '{"kind":"item"}\n'),
    ];
    const { status, headers, text } = await app.send("GET", feed);
    expect([status, headers["content-type"]]).toEqual([200, "application/x-ndjson"]);
    expect(text).toBe(
      '{"kind":"event"}\n{"kind":"cursor","cursor":"c1"}\n{"kind":"cursor","cursor":"c2"}\n{"kind":"item"}\n{"kind":"cursor","cursor":"c3"}\n',
    );
    expect(asked.map(({ after, waitMs }) => [after, waitMs])).toEqual([
      ["", 0],
      ["c1", 0],
      ["c2", 0],
    ]);
    expect(asked[0]).toMatchObject({ organizer: "bigevents", mustExist: false });
    expect(asked[0]).not.toHaveProperty("among.slugs");
  });

  it("[F1.3, F1.9] asks for events, behind a cursor, with a wait of at most 25 seconds", async () => {
    await app.send("GET", `${feed}?events=a,b&events=a&after=c0&wait=300`);
    expect(asked).toMatchObject([{ among: { slugs: ["a", "b"] }, mustExist: true, after: "c0", waitMs: 25_000 }]);
  });

  it("[F1.3] asks for the events of the credential alone", async () => {
    await app.send("GET", feed, { key: keys.otherEvent });
    expect(asked).toMatchObject([{ among: { slugs: ["other"] }, mustExist: false }]);
    expect(await app.send("GET", `${feed}?events=other,sampleconf`, { key: keys.otherEvent })).toMatchObject({
      status: 403,
      json: { detail: "There is no event sampleconf, or these credentials are not for it." },
    });
    parts = [new Fault("forbidden", "unknown_events", "There is no event theirs, or you have no access to it.")];
    expect((await app.send("GET", `${feed}?events=theirs`)).status).toBe(403);
    expect((await app.send("GET", feed, { key: keys.otherOrganizer })).status).toBe(403);
  });

  it.each([
    ...([
      [keys.reader, 200, 200],
      [devices.full, 200, 200],
      [devices.scan, 200, 200],
    ] as const),
    ...([
      [keys.gate, 403, 200],
      [devices.kiosk, 403, 200],
    ] as const),
    ...([
      [keys.none, 403, 403],
      [keys.operator, 403, 403],
      [null, 401, 401],
    ] as const),
  ])(
    "[F1.2] shows codes to credentials that may read orders: %s gets %i, and with hashes %i",
    async (key, clear, hashed) => {
      expect((await app.send("GET", feed, { key })).status).toBe(clear);
      parts = [part("c1", "")];
      expect((await app.send("GET", `${feed}?codes=hashed`, { key })).status).toBe(hashed);
      if (hashed === 200) expect(asked.at(-1)).toMatchObject({ hashed: true });
    },
  );

  it("[F1.10, F1.11] refuses cursors in clear words", async () => {
    parts = [{ ...part("", ""), isTooOld: true }];
    expect(await app.send("GET", `${feed}?after=old`)).toMatchObject({
      status: 410,
      json: { detail: /Begin without it/ },
    });
    const fields = { after: ["This is not a cursor of this feed."] };
    parts = [new Fault("invalid", "invalid_cursor", "This is not a cursor of this feed.", { fields })];
    expect(await app.send("GET", `${feed}?after=x`)).toMatchObject({ status: 400, json: fields });
    expect(await app.send("GET", `${feed}?wait=x`)).toMatchObject({
      status: 400,
      json: { wait: ["This is not a whole number of seconds."] },
    });
  });

  it("[F1.8] breaks the connection where a later part cannot be read", async () => {
    parts = [
      part("c1", '{"kind":"event"}\n', { isComplete: false }),
      new Fault("unavailable", "peer_unavailable", "away"),
    ];
    await expect(app.send("GET", feed)).rejects.toThrow(/aborted|hang up|closed/);
  });

  it("[F1.14] ends after a minute behind a cursor, however much there is to read", async () => {
    const started = performance.now();
    let passed = 0;
    vi.spyOn(performance, "now").mockImplementation(() => started + passed);
    onTestFinished(() => void vi.restoreAllMocks());
    let read = 0;
    app.peers.when("sync", "readChanges", async () => {
      passed += 25_000;
      read += 1;
      return part(`c${read}`, "", { isComplete: false });
    });
    const { text } = await app.send("GET", feed);
    expect(text).toBe(["c1", "c2", "c3"].map((cursor) => `{"kind":"cursor","cursor":"${cursor}"}\n`).join(""));
  });

  it("[F1.12] is compressed for clients that ask for it", async () => {
    const bytes = await new Promise<Buffer>((resolve, reject) => {
      const headers = { authorization: `Token ${keys.all}`, "accept-encoding": "gzip" };
      httpRequest({ port: app.port, path: feed, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => resolve(Buffer.concat(chunks)));
      })
        .on("error", reject)
        .end();
    });
    expect(gunzipSync(bytes).toString()).toBe('{"kind":"item"}\n{"kind":"cursor","cursor":"c1"}\n');
  });

  it("[F1.12] is not compressed for clients that refuse it", async () => {
    const { headers, text } = await app.send("GET", feed, { headers: { "accept-encoding": "gzip;q=0, identity" } });
    expect(headers).not.toHaveProperty("content-encoding");
    expect(text).toBe('{"kind":"item"}\n{"kind":"cursor","cursor":"c1"}\n');
  });

  it("[F1.13] comes as Server-Sent Events, whose ids are cursors", async () => {
    parts = [
      part("c1", '{"kind":"event"}\n{"kind":"item"}\n', { isComplete: false }),
      part("c2", ""),
      part("c3", '{"kind":"list"}\n'),
    ];
    const headers = { accept: "text/event-stream", "last-event-id": "c0" };
    // The stream ends where nothing more can be read.
    parts.push(new Fault("unavailable", "peer_unavailable", "away"));
    const got = await new Promise<string>((resolve, reject) => {
      let text = "";
      const request = httpRequest(
        { port: app.port, path: feed, headers: { ...headers, authorization: `Token ${keys.all}` } },
        (response) => {
          if (response.headers["content-type"]?.startsWith("text/event-stream") !== true)
            reject(new Error("no events"));
          response.on("data", (chunk: Buffer) => {
            text += chunk.toString();
          });
          response.on("close", () => resolve(text));
          response.on("error", () => {});
        },
      );
      request.on("error", reject);
      request.end();
    });
    expect(got).toBe(
      'retry: 1000\n\nid: c1\ndata: {"kind":"event"}\ndata: {"kind":"item"}\n\n: nothing new\n\nid: c3\ndata: {"kind":"list"}\n\n',
    );
    expect(asked.map(({ after, waitMs }) => [after, waitMs])).toEqual([
      ["c0", 0],
      ["c1", 0],
      ["c2", 25_000],
      ["c3", 25_000],
    ]);
  });
});

describe("pack/", () => {
  const pack = `${inEvent}/pack/`;
  let packs: ReadPackRequest[];

  beforeEach(() => {
    packs = [];
    app.peers.when("sync", "readPack", async (request) => {
      packs.push(request);
      return { pack: Buffer.from([1, 2, 255]) };
    });
  });

  it("[F4.1, F4.2] is a file", async () => {
    const { status, headers } = await app.send("GET", `${pack}?from=ticket.7.Ab-_&names=true`);
    expect([status, headers["content-type"], headers["content-length"]]).toEqual([
      200,
      "application/octet-stream",
      "3",
    ]);
    expect(packs).toMatchObject([
      { organizer: "bigevents", event: "sampleconf", from: "ticket.7.Ab-_", withNames: true },
    ]);
  });

  it.each([
    ...([
      [keys.reader, 200, 200],
      [devices.scan, 200, 200],
      [keys.gate, 200, 403],
      [devices.kiosk, 200, 403],
    ] as const),
    ...([
      [keys.none, 403, 403],
      [keys.otherEvent, 403, 403],
      [keys.otherOrganizer, 403, 403],
    ] as const),
  ])(
    "[F4.3] is for credentials that scan, with names for those that may read orders: %s gets %i and %i",
    async (key, status, named) => {
      expect((await app.send("GET", pack, { key })).status).toBe(status);
      expect((await app.send("GET", `${pack}?names=true`, { key })).status).toBe(named);
    },
  );
});
