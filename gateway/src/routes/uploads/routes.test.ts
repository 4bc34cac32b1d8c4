import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { diskFiles } from "@tessera/engines/files/disk";
import { Fault } from "@tessera/kit/fault";
import type { Files, FoundFile } from "@tessera/kit/files/files";
import { examine } from "@tessera/sent-files/examine";
import { aGif, aJpeg, aPdf, aPng } from "@tessera/sent-files/testing/sample-files";
import { collect } from "@tessera/testkit/files-contract";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Outstanding, Upload } from "../../store/uploads.ts";
import { requireDocumented } from "../../testing/require-documented.ts";
import { devices, keys, type SendOptions, type ServedApp, serveApp } from "../../testing/serve-app.ts";

const maxBytes = 4096;
const now = 1_700_000_000_123_456;

let directory: string;
let files: Files;
let app: ServedApp;
let recorded: Upload[];
let record: (upload: Upload) => Promise<string>;
let outstanding: { organizer: Outstanding; credential: Outstanding };
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-uploads-"));
  files = diskFiles({ directory });
  recorded = [];
  record = async (upload) => {
    recorded.push(upload);
    return upload.id;
  };
  const none = { files: 0, size: 0 };
  outstanding = { organizer: none, credential: none };
  const targets = { countOutstanding: async () => outstanding, mostOutstanding: { files: 8, size: 8000 } };
  app = await serveApp({
    uploads: { files, record: (upload) => record(upload), now: () => now, maxBytes, ...targets },
  });
});
afterEach(async () => {
  requireDocumented(app);
  await app.close();
  await rm(directory, { recursive: true, force: true });
});

const named = (name: string) => `attachment; filename="${name}"`;
const stored = async () => (await collect(files.list(""))).map(({ key, size }) => ({ key, size }));

function upload(body: Buffer | string | undefined, type: string, name: string, options: SendOptions = {}) {
  return app.send("POST", "/api/v1/upload", {
    body,
    ...options,
    headers: { "content-type": type, "content-disposition": named(name), ...options.headers },
  });
}

const examined = await examine({ type: "application/pdf", bytes: Uint8Array.from(aPdf()) });
/** A PDF that is rewritten unchanged. */
const writtenPdf = Buffer.from((examined.ok && examined.rewritten) || []);

describe("POST /api/v1/upload", () => {
  it.each([
    ["image/png", "a.png", aPng()],
    ["image/gif", "a.gif", aGif()],
    ["image/jpeg", "a.jpeg", aJpeg()],
    ["image/jpeg; q=1", "a.jpg", aJpeg()],
    ["Application/PDF", "a.pdf", writtenPdf],
  ])("takes %s called %s", async (type, name, bytes) => {
    const { status, json } = await upload(bytes, type, name);
    expect([status, json]).toEqual([201, { id: expect.stringMatching(/^file:[0-9a-f-]{36}$/) }]);
    const [row] = recorded;
    expect(row).toEqual({
      id: (json as { id: string }).id.slice("file:".length),
      organizer: "bigevents",
      credentialKind: "api_key",
      credentialId: createHash("sha256").update(keys.all).digest("hex"),
      fileName: name,
      contentType: type.split(";")[0]?.toLowerCase(),
      size: bytes.length,
      sha256: createHash("sha256").update(bytes).digest("hex"),
      createdAt: now,
      expiresAt: now + 86_400_000_000,
    });
    expect(await stored()).toEqual([{ key: `uploads/${row?.id}`, size: bytes.length }]);
  });

  it.each([
    ["application/pdf", "a.pdf", Buffer.concat([aPdf(), Buffer.from("% behind its end")]), writtenPdf],
    ["image/png", "a.png", Buffer.concat([aPng(), Buffer.from("<script>")]), aPng()],
  ])("[S4.46, S4.47] stores of %s what is taken of it", async (type, name, sent, taken) => {
    expect((await upload(sent, type, name)).status).toBe(201);
    const [row] = recorded;
    const found = await files.get(`uploads/${row?.id}`);
    const content = found && (await buffer(found.content));
    expect(content).toEqual(taken);
    expect(row).toMatchObject({ size: taken.length, sha256: createHash("sha256").update(taken).digest("hex") });
  });

  it.each([
    ["a type that is not taken", "text/html", "a.html", Buffer.from("<p>"), /"text\/html"/],
    ["no type", "", "a.png", aPng(), /""/],
    ["a name of another type", "image/png", "a.gif", aPng(), /"a\.gif"/],
    ["a name in capitals", "image/png", "A.PNG", aPng(), /"A\.PNG"/],
    ["an image that is another", "image/png", "a.png", aGif(), /PNG/],
    ["an image that is too large to decode", "image/png", "a.png", aPng({ width: 20_000 }), /20000 x 1/],
    [
      "a PDF with a script",
      "application/pdf",
      "a.pdf",
      aPdf({ catalog: "/OpenAction << /S /JavaScript >>" }),
      /JavaScript/,
    ],
    ["nothing", "image/png", "a.png", Buffer.alloc(0), /no file/],
  ])("[A8.1] refuses %s, and keeps nothing", async (_name, type, name, body, message) => {
    const { status, json } = await upload(body, type, name);
    expect([status, json]).toEqual([400, { detail: expect.stringMatching(message) }]);
    expect([await stored(), recorded]).toEqual([[], []]);
  });

  it("refuses an empty body that does not say so", async () => {
    const { status, json } = await upload("", "image/png", "a.png", { headers: { "transfer-encoding": "chunked" } });
    expect([status, json]).toEqual([400, { detail: expect.stringMatching("no file") }]);
    expect(await stored()).toEqual([]);
  });

  it("asks for a file name", async () => {
    for (const header of ["", "attachment", named("")]) {
      const { status, json } = await upload(aPng(), "image/png", "", { headers: { "content-disposition": header } });
      expect([status, json]).toEqual([400, { detail: expect.stringMatching("names no file") }]);
    }
  });

  it("refuses what is compressed", async () => {
    const { status } = await upload(aPng(), "image/png", "a.png", { headers: { "content-encoding": "gzip" } });
    expect(status).toBe(415);
  });

  it("[S4.8] refuses what is too large, whether it says so or not", async () => {
    const body = Buffer.alloc(maxBytes + 1);
    expect((await upload(body, "image/png", "a.png")).status).toBe(400);
    expect((await upload(body, "image/png", "a.png", { headers: { "transfer-encoding": "chunked" } })).status).toBe(
      400,
    );
    expect(await stored()).toEqual([]);
    const exact = Buffer.concat([aPng(), Buffer.alloc(maxBytes - aPng().length)]);
    expect((await upload(exact, "image/png", "a.png", { headers: { "transfer-encoding": "chunked" } })).status).toBe(
      201,
    );
  });

  it("[A1.10, A2.4] is open to every key and every scanner, and not to the operator", async () => {
    for (const key of [keys.none, keys.otherOrganizer, devices.full, devices.scan, devices.kiosk]) {
      expect((await upload(aPng(), "image/png", "a.png", { key })).status).toBe(201);
    }
    expect(
      recorded.map(({ organizer, credentialKind, credentialId }) => [organizer, credentialKind, credentialId.length]),
    ).toEqual([
      ["bigevents", "api_key", 64],
      ["somebody", "api_key", 64],
      ["bigevents", "device", 1],
      ["bigevents", "device", 1],
      ["bigevents", "device", 1],
    ]);
    expect((await upload(aPng(), "image/png", "a.png", { key: keys.operator })).status).toBe(403);
    expect((await upload(aPng(), "image/png", "a.png", { key: null })).status).toBe(401);
    expect((await upload(aPng(), "image/png", "a.png", { key: keys.inactive })).status).toBe(401);
  });

  it("[A4.4] is where it is, without a slash at its end", async () => {
    expect((await app.send("POST", "/api/v1/upload/", { body: aPng() })).status).toBe(404);
    expect((await app.send("GET", "/api/v1/upload")).status).toBe(405);
  });

  it("reads its body itself, also where keys are ignored", async () => {
    const { status } = await upload(aPng(), "image/png", "a.png", { headers: { "x-idempotency-key": "once" } });
    expect(status).toBe(201);
    const { json } = await app.send("GET", "/api/v1/openapi.json");
    const { paths } = json as { paths: Record<string, { post: { requestBody: { content: object } } }> };
    expect(Object.keys(paths["/api/v1/upload"]?.post.requestBody.content ?? {})).toEqual([
      "application/pdf",
      "image/gif",
      "image/jpeg",
      "image/png",
    ]);
  });

  it("takes many at once", async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        upload(aPng({ width: index + 1 }), "image/png", "a.png", {
          key: index % 2 === 0 ? keys.all : keys.otherOrganizer,
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 201));
    expect(await stored()).toHaveLength(12);
  });

  it("answers nothing that is not recorded", async () => {
    record = () => Promise.reject(new Fault("unavailable", "database_unavailable", "the database does not answer"));
    const { status, json } = await upload(aPng(), "image/png", "a.png");
    expect([status, json]).toEqual([503, { detail: expect.any(String) }]);
    // It may have been recorded all the same: a job checks later.
    expect(await stored()).toHaveLength(1);
  });

  it.each<[string, (found: FoundFile | undefined) => FoundFile | undefined]>([
    ["is deleted", () => undefined],
    ["is cut off", (found) => found && { ...found, content: Readable.from([Buffer.from("PNG")]) }],
    ["goes on too long", (found) => found && { ...found, content: Readable.from([aPng(), aPng()]) }],
    ["cannot be read", () => Promise.reject(new Fault("unavailable", "files_unavailable", "away")) as never],
  ])("[S10.4] accepts nothing that %s when it is read back", async (_name, disturb) => {
    const { get } = files;
    vi.spyOn(files, "get").mockImplementation(async (key) => disturb(await get(key)));
    const { status } = await upload(aPng(), "image/png", "a.png");
    expect(status).toBeGreaterThanOrEqual(500);
    expect([await stored(), recorded]).toEqual([[], []]);
  });

  it("keeps nothing of a sender that disconnects", async () => {
    const socket = connect(app.port, "127.0.0.1");
    const head = `POST /api/v1/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${keys.all}\r\nContent-Type: image/png\r\nContent-Disposition: ${named("a.png")}\r\nContent-Length: 1000\r\n\r\n`;
    socket.write(head);
    socket.write(Buffer.alloc(500));
    await expect.poll(() => collect(files.listUnfinished(""))).toHaveLength(1);
    socket.destroy();
    await expect.poll(() => app.logged.filter(({ message }) => message === "request")).toMatchObject([{ status: 499 }]);
    expect(app.logged.filter(({ level }) => level === "error")).toEqual([]);
    expect([await stored(), recorded]).toEqual([[], []]);
  });
});

describe("a caller that has sent much that no scan has named", () => {
  it.each([
    ["its organizer sent many files", { files: 8, size: 8 }, { files: 0, size: 0 }],
    ["its organizer sent many bytes", { files: 1, size: 8000 }, { files: 0, size: 0 }],
    ["it sent half of the files itself", { files: 4, size: 4 }, { files: 4, size: 4 }],
    ["it sent half of the bytes itself", { files: 1, size: 4000 }, { files: 1, size: 4000 }],
  ])("[S4.18] is refused before it sends another file: %s", async (_name, organizer, credential) => {
    outstanding = { organizer, credential };
    const socket = connect(app.port, "127.0.0.1");
    socket.write(
      `POST /api/v1/upload HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${keys.all}\r\nContent-Type: image/png\r\nContent-Disposition: ${named("a.png")}\r\nContent-Length: 4000\r\n\r\n`,
    );
    const [answer] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 429 .*^Retry-After: 600\r$/ims);
    expect(await stored()).toEqual([]);
  });

  it("is served up to that", async () => {
    outstanding = { organizer: { files: 7, size: 7999 }, credential: { files: 3, size: 3999 } };
    expect((await upload(aPng(), "image/png", "a.png")).status).toBe(201);
  });
});
