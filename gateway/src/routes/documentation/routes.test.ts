import { hash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { appOfEachTest } from "../../testing/serve-app.ts";
import type { DemoKeys } from "./page.ts";
import { documentationRoutes } from "./routes.ts";

const path = "/api/v1/openapi.json";

const app = appOfEachTest();

const get = (headers: Readonly<Record<string, string>> = {}) => app.send("GET", path, { key: null, headers });

describe("the document", () => {
  it("[S4.20] is written once", async () => {
    let written = 0;
    const document = () => {
      written += 1;
      return { openapi: "3.1.0" };
    };
    const demoKeys = { apiKey: undefined, deviceKey: undefined };
    const { openApi } = documentationRoutes({ document, version: "1", demoKeys });
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

describe("the pages", () => {
  it("[S8.4] lead from the first one to the documentation, without scripts", async () => {
    const home = await app.send("GET", "/", { key: null, headers: { accept: "text/html" } });
    expect([home.status, home.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    expect(home.text).toContain("Version 1.2.3");
    expect(home.text).not.toContain("<script");
    const [, style = ""] = /<style>([\s\S]*)<\/style>/.exec(home.text) ?? [];
    expect(home.headers["content-security-policy"]).toContain(`'sha256-${hash("sha256", style, "base64")}'`);
    const links = Array.from(home.text.matchAll(/(?:href|src)="([^"]+)"/g), ([, link = ""]) => link);
    expect(new Set(links)).toEqual(new Set(["favicon.ico", "docs", "api/v1/openapi.json"]));
    for (const link of links) expect((await app.send("GET", `/${link}`, { key: null })).status, link).toBe(200);
  });

  it("say at once what is loading, and load the document beside the viewer", async () => {
    const { text } = await app.send("GET", "/docs", { key: null });
    const beforeScripts = text.slice(0, text.indexOf("<script"));
    expect(beforeScripts).toMatch(/<link rel="preload" href="api\/v1\/openapi\.json"/);
    expect(beforeScripts.replaceAll(/<[^>]*>/g, " ")).toMatch(/Tessera API\s+The viewer .* is loading/);
  });

  it("show first what a reader tries without changing anything", async () => {
    interface Operation {
      readonly tags: readonly string[];
    }
    const { tags, paths } = JSON.parse((await get()).text) as {
      readonly tags: readonly { readonly name: string }[];
      readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    };
    const operations = Object.values(paths).flatMap((operations) => Object.entries(operations));
    const [method] = operations.find(([, operation]) => operation.tags[0] === tags[0]?.name) ?? [];
    expect(method).toBe("get");
  });

  it("are asked for again each time, so that a new release is seen at once", async () => {
    for (const address of ["/", "/docs", "/docs/start.js", "/docs/standalone.js", "/favicon.ico", path]) {
      const headers = { "accept-encoding": "gzip" };
      const first = await app.send("GET", address, { key: null, headers });
      expect(first.headers["cache-control"], address).toBe("no-cache");
      const tag = first.headers.etag ?? "";
      const again = await app.send("GET", address, { key: null, headers: { ...headers, "if-none-match": tag } });
      expect([again.status, again.text], address).toEqual([304, ""]);
      // Uncompressed, it has another ETag.
      expect((await app.send("GET", address, { key: null })).headers.etag, address).not.toBe(tag);
    }
  });

  it("fill in the keys of a demo, and no key elsewhere", async () => {
    const startOf = async (demoKeys: DemoKeys) => {
      const { start } = documentationRoutes({ document: () => ({}), version: "1", demoKeys });
      return String((await start.handle({ header: () => "" } as never)).body);
    };
    const ofDemo = await startOf({ apiKey: "abc", deviceKey: "def" });
    expect(ofDemo).toContain('"Token abc"');
    expect(ofDemo).toContain('"Device def"');
    const { text } = await app.send("GET", "/docs/start.js", { key: null });
    expect(text).toContain('"value": "Token "');
    expect(text).toContain('"value": "Device "');
  });
});
