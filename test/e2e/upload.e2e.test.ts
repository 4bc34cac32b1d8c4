import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileWith } from "@tessera/sent-files/testing/sample-files";
import { expect, it } from "vitest";
import { apiKey, deviceKey, groundwork } from "./sample-records.ts";
import { startTestPlatform } from "./test-platform.ts";

it("an upload is kept up to the limit of the environment, in its folder, and in no log", async () => {
  const limit = 64 * 1024;
  const platform = await startTestPlatform({ environment: { UPLOAD_LIMIT: String(limit) } });
  try {
    platform.keepOutOfLogs(apiKey, deviceKey, "geheim");
    expect(await platform.import(groundwork())).toMatchObject({ rejected: 0, settled: true });
    const png = fileWith("image/png", "a card");
    const upload = (bytes: number, as: string) =>
      platform.request("POST", "/api/v1/upload", {
        as,
        body: Buffer.concat([png, Buffer.alloc(bytes - png.length)]),
        headers: { "content-type": "image/png", "content-disposition": 'attachment; filename="geheim.png"' },
      });
    const stored = async () => (await readdir(join(platform.filesDirectory, "content", "uploads+"))).length;
    for (const as of [`Token ${apiKey}`, `Device ${deviceKey}`])
      expect(await upload(limit, as)).toMatchObject({
        status: 201,
        body: { id: expect.stringMatching(/^file:[0-9a-f-]{36}$/) },
      });
    expect(await upload(limit + 1, `Token ${apiKey}`)).toMatchObject({
      status: 400,
      body: { detail: expect.any(String) },
    });
    expect(await stored()).toBe(2);
  } finally {
    await platform.stop();
  }
});
