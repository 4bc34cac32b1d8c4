import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiKey, groundwork, ofOrganizer } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);
/** Header, one frame of a pixel, the beginning of its scan, and the end. */
const jpeg = Buffer.from(
  "ffd8ffe000104a46494600010100000100010000ffc0000b080001000101011100ffda0008010100003f003fffd9",
  "hex",
);
const pdf = (catalog = "") =>
  Buffer.from(`%PDF-1.7
1 0 obj << /Type /Catalog /Pages 2 0 R ${catalog} >> endobj
2 0 obj << /Type /Pages /Count 1 /Kids [3 0 R] >> endobj
3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >> endobj
trailer << /Root 1 0 R /Size 4 >>
startxref
0
%%EOF
`);

const devices = {
  pretixscan: "scan-device-key-of-the-tests",
  pretixscan_online_kiosk: "kiosk-device-key-of-the-tests",
  pretixscan_online_noorders: "noorders-device-key-of-the-tests",
};
const powerless = "key-without-permissions-of-the-tests";
const limit = 64 * 1024;

describe("an upload", () => {
  let platform: TestPlatform;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tessera-upload-"));
    platform = await startTestPlatform({ environment: { FILES_DIR: folder, UPLOAD_LIMIT: String(limit) } });
    platform.keepOutOfLogs(apiKey, powerless, ...Object.values(devices), "geheim");
    const answer = await platform.import([
      ...groundwork(),
      ofOrganizer("api_key", { token: powerless, name: "powerless", permissions: [], all_events: false, events: [] }),
      ...Object.entries(devices).map(([profile, token], index) =>
        ofOrganizer("device", {
          device_id: 10 + index,
          token,
          name: profile,
          gate: 7,
          security_profile: profile,
          software_brand: "tests",
          all_events: true,
        }),
      ),
    ]);
    expect(answer).toMatchObject({ rejected: 0, settled: true });
  });
  afterAll(async () => {
    await platform.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const upload = (
    body: Uint8Array | string | undefined,
    { type = "image/png", name = "geheim.png", as = `Token ${apiKey}`, headers = {} } = {},
  ) =>
    platform.request("POST", "/api/v1/upload", {
      as,
      ...(body === undefined ? {} : { body }),
      headers: { "content-type": type, "content-disposition": `attachment; filename="${name}"`, ...headers },
    });
  const stored = async () => (await readdir(join(folder, "content", "uploads+")).catch(() => [])).length;

  it.each([
    ["image/png", "a.png", png],
    ["image/gif", "a.gif", gif],
    ["image/jpeg", "a.jpg", jpeg],
    ["application/pdf", "a.pdf", pdf()],
  ])("of %s is taken", async (type, name, bytes) => {
    const before = await stored();
    const answer = await upload(bytes, { type, name });
    expect([answer.status, answer.body]).toEqual([201, { id: expect.stringMatching(/^file:[0-9a-f-]{36}$/) }]);
    expect(await stored()).toBe(before + 1);
  });

  it.each([
    ["image/png", "a.png", gif],
    ["image/gif", "a.gif", jpeg],
    ["image/jpeg", "a.jpg", png],
    ["application/pdf", "a.pdf", png],
    ["application/pdf", "a.pdf", pdf("/OpenAction << /S /JavaScript /JS (app.alert\\(1\\)) >>")],
    ["application/pdf", "a.pdf", pdf("/Names << /EmbeddedFiles << /Names [] >> >>")],
    ["image/png", "a.jpg", png],
    ["text/plain", "a.png", png],
    ["image/png", "a.png", undefined],
  ])("of %s called %s is refused where it is not what it says", async (type, name, bytes) => {
    const before = await stored();
    const answer = await upload(bytes, { type, name });
    expect([answer.status, answer.body]).toEqual([400, { detail: expect.any(String) }]);
    expect(await stored()).toBe(before);
  });

  it("has a name, also in another script", async () => {
    const answer = await upload(png, { headers: { "content-disposition": "attachment" } });
    expect([answer.status, answer.body]).toEqual([400, { detail: expect.any(String) }]);
    const disposition = "attachment; filename*=UTF-8''%E5%88%87%E7%AC%A6.png";
    expect((await upload(png, { headers: { "content-disposition": disposition } })).status).toBe(201);
  });

  it("has a limit", async () => {
    const padded = (bytes: number) => Buffer.concat([png, Buffer.alloc(bytes - png.length)]);
    expect((await upload(padded(limit))).status).toBe(201);
    const answer = await upload(padded(limit + 1));
    expect([answer.status, answer.body]).toEqual([400, { detail: expect.any(String) }]);
  });

  it("is allowed to keys without a permission and to scanners, and not to the operator", async () => {
    for (const as of [`Token ${powerless}`, ...Object.values(devices).map((token) => `Device ${token}`)]) {
      expect((await upload(png, { as })).status).toBe(201);
    }
    expect((await upload(png, { as: `Token ${platform.operatorKey}` })).status).toBe(403);
    expect((await upload(png, { as: "Token nobody" })).status).toBe(401);
  });
});
