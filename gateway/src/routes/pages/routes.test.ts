import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { appOfEachTest } from "../../testing/serve-app.ts";
import { scannerPageRoutes } from "./routes.ts";

const app = appOfEachTest();

const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") =>
  app.send(method, path, { key: null, headers });

/** Addresses of the files that the page names, and of those that its scripts name. */
async function filesOfPage(): Promise<string[]> {
  const { text } = await get("/scan/");
  const files = new Set(
    Array.from(text.matchAll(/(?:href|src)="\.\/(assets\/[^"]+)"/g), ([, name = ""]) => `/scan/${name}`),
  );
  // What is added meanwhile is visited, too.
  for (const file of files) {
    if (!file.endsWith(".js")) continue;
    const script = (await get(file)).text;
    for (const [name] of script.matchAll(/[\w.-]+-[\w-]{8}\.(?:js|wasm)/g)) files.add(`/scan/assets/${name}`);
  }
  return [...files];
}

describe("the scanner page", () => {
  it("[G1.1] is served without credentials, with all its files in their types", async () => {
    const page = await get("/scan/", { accept: "text/html,application/xhtml+xml" });
    expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    const files = await filesOfPage();
    const types: Readonly<Record<string, string>> = {
      js: "text/javascript; charset=utf-8",
      css: "text/css; charset=utf-8",
      svg: "image/svg+xml",
      webmanifest: "application/manifest+json; charset=utf-8",
      wasm: "application/wasm",
      txt: "text/plain; charset=utf-8",
    };
    for (const file of files) {
      const { status, headers } = await get(file, {}, "HEAD");
      expect([status, headers["content-type"]], file).toEqual([200, types[file.split(".").at(-1) ?? ""]]);
    }
    expect(new Set(files.map((file) => file.split(".").at(-1)))).toEqual(new Set(Object.keys(types)));
  });

  it("[G1.5] holds the licenses of what it is made of", async () => {
    const file = (await filesOfPage()).find((name) => name.endsWith(".txt")) ?? "";
    expect((await get(file)).text).toMatch(
      /^preact \d[\s\S]*Jason Miller[\s\S]*^zxing-cpp \(Apache-2\.0\)[\s\S]*Apache License/m,
    );
  });

  it("[G1.1] is where its address without a slash leads", async () => {
    const { status, headers } = await get("/scan");
    expect([status, headers.location]).toEqual([301, "/shop/scan/"]);
  });

  it("[G6.4] has a service worker that names all its files, and is asked for again each time", async () => {
    const { status, headers, text } = await get("/scan/service-worker.js");
    expect([status, headers["content-type"]]).toEqual([200, "text/javascript; charset=utf-8"]);
    expect(headers["cache-control"]).toBe("no-cache");
    for (const file of await filesOfPage()) expect(text).toContain(`"${file.replace("/scan/", "")}"`);
  });

  it.each([
    "/scan/index.html",
    "/scan/assets/",
    "/scan/assets/index.html",
    "/scan/assets/..%2Findex.html",
    "/scan/assets/../../inputs.sha256",
    "/scan/assets/%2e%2e%2f%2e%2e%2fpackage.json",
    "/scan/assets/constructor",
  ])("[G1.1] has nothing at %s", async (path) => {
    expect((await get(path)).status).toBe(404);
  });

  it("[G1.2] is asked for again each time, and its files for a year not", async () => {
    const first = await get("/scan/", { "accept-encoding": "gzip, br" });
    expect(first.headers["cache-control"]).toBe("no-cache");
    const again = await get("/scan/", { "accept-encoding": "gzip, br", "if-none-match": first.headers.etag ?? "" });
    expect([again.status, again.text]).toEqual([304, ""]);
    const plain = await get("/scan/", { "if-none-match": first.headers.etag ?? "" });
    expect(plain.status).toBe(200);
    for (const file of await filesOfPage())
      expect((await get(file)).headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  });

  it("[G1.2] is compressed as the request allows", async () => {
    const { page } = scannerPageRoutes();
    const ask = (accepted: string) =>
      page.handle({ header: (name: string) => (name === "Accept-Encoding" ? accepted : "") } as never);
    const plain = await ask("");
    expect(plain.headers).not.toHaveProperty("Content-Encoding");
    const zipped = await ask("gzip, deflate");
    expect(zipped.headers).toMatchObject({ "Content-Encoding": "gzip", Vary: "Accept-Encoding" });
    expect(gunzipSync(zipped.body as Buffer)).toEqual(plain.body);
    const best = await ask("gzip, deflate, br, zstd");
    expect(best.headers).toMatchObject({ "Content-Encoding": "br" });
    expect(brotliDecompressSync(best.body as Buffer)).toEqual(plain.body);
  });

  it("[G1.3] holds no script and no style, and may load nothing of other hosts", async () => {
    const { text, headers } = await get("/scan/");
    expect(text).not.toMatch(/<style|style=|\son\w+=|<script(?![^>]* src="\.\/assets\/)|https?:|data:/);
    const policy = headers["content-security-policy"];
    expect(policy).toMatch(/^default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self';/);
    expect(policy).not.toMatch(/unsafe-inline|'unsafe-eval'|https?:|\*/);
    expect(headers).toMatchObject({
      "permissions-policy": "camera=(self), microphone=(), geolocation=()",
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
    });
    const files = await filesOfPage();
    for (const file of files) expect((await get(file)).headers["content-security-policy"]).toBe(policy);
  });

  it("says which page was not built, and what to do", () => {
    expect(() => scannerPageRoutes(new URL("file:///nowhere/"))).toThrow(/\/nowhere\/.*prepare\.mjs/);
  });
});

describe("the live board", () => {
  it("[B3.1] is served without credentials, in what it needs alone, and may load nothing of other hosts", async () => {
    const { status, text, headers } = await get("/board/", { accept: "text/html" });
    expect([status, headers["content-type"], headers["cache-control"]]).toEqual([
      200,
      "text/html; charset=utf-8",
      "no-cache",
    ]);
    expect(text).not.toMatch(/<style|style=|\son\w+=|<script(?![^>]* src="\.\/assets\/)|https?:|data:/);
    expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/);
    expect(headers["permissions-policy"]).toBe("camera=(), microphone=(), geolocation=()");
    const files = Array.from(text.matchAll(/(?:href|src)="\.\/(assets\/[^"]+)"/g), ([, name = ""]) => `/board/${name}`);
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) expect((await get(file, {}, "HEAD")).status).toBe(200);
    expect((await get("/board/assets/index.html")).status).toBe(404);
    expect((await get("/board")).headers.location).toBe("/shop/board/");
  });

  it("[B3.1] holds the licenses of what it is made of", async () => {
    const { text } = await get("/board/");
    const [, name = ""] = /href="\.\/(assets\/licenses[^"]+)"/.exec(text) ?? [];
    expect((await get(`/board/${name}`)).text).toMatch(/^uplot \d[\s\S]*Leon Sorokin/m);
  });
});
