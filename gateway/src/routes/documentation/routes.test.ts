import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { requireDocumented } from "../../testing/require-documented.ts";
import { type ServedApp, serveApp } from "../../testing/serve-app.ts";
import { documentationRoutes } from "./routes.ts";

const path = "/api/v1/openapi.json";

let app: ServedApp;
beforeEach(async () => {
  app = await serveApp();
});
afterEach(async () => {
  requireDocumented(app);
  await app.close();
});

const get = (headers: Readonly<Record<string, string>> = {}) => app.send("GET", path, { key: null, headers });

describe("the document", () => {
  it("[S4.20] is written once", async () => {
    let written = 0;
    const { openApi } = documentationRoutes(() => {
      written += 1;
      return { openapi: "3.1.0" };
    });
    const bodies = await Promise.all(
      Array.from({ length: 50 }, async () => (await openApi.handle({ header: () => "" } as never)).body),
    );
    expect([written, new Set(bodies).size]).toEqual([1, 1]);
  });

  it("is not sent to a client that has it", async () => {
    const first = await get();
    const tag = first.headers.etag ?? "";
    expect([first.status, tag]).toEqual([200, expect.stringMatching(/^".+"$/)]);
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`]) {
      const again = await get({ "if-none-match": known });
      expect([again.status, again.text, again.headers.etag]).toEqual([304, "", tag]);
    }
    for (const other of ['"other"', ""]) expect((await get({ "if-none-match": other })).text).toBe(first.text);
  });
});
