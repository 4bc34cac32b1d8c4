import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Bundled } from "./bundled.ts";
import { findBundled } from "./bundled-packages.ts";

const built = new URL("../dist/", import.meta.url);
const pages = ["scan", "board"];
const sources = ["../src", "../../values/src", "../../admission/src"];

/** The packages that the sources of the page name, tests and what only they use left out. */
async function namedBySources(): Promise<Set<string>> {
  const names = new Set<string>();
  for (const folder of sources.map((each) => new URL(`${each}/`, import.meta.url))) {
    for (const file of await readdir(folder, { recursive: true })) {
      if (!/\.tsx?$/.test(file) || /\.test\.ts$|testing|samples/.test(file)) continue;
      const source = await readFile(new URL(file, folder), "utf8");
      for (const [, name = ""] of source.matchAll(
        /^(?:import|export)(?! type)[^;]*? from "((?:@[^/"]+\/)?[^./"@][^/"]*)/gm,
      ))
        names.add(name);
    }
  }
  return names;
}

const listOf = async (page: string) =>
  JSON.parse(await readFile(new URL(`${page}/bundled.json`, built), "utf8")) as Bundled[];

describe("[G1.5] what the pages are made of", () => {
  it.each(pages)("is listed with the text of each license, in the file that the page names: %s", async (page) => {
    const list = await listOf(page);
    const text = await readFile(new URL(`${page}/index.html`, built), "utf8");
    const [, name = ""] = /<link rel="license"[^>]* href="\.\/([^"]+)">/.exec(text) ?? [];
    const texts = await readFile(new URL(`${page}/${name}`, built), "utf8");
    const entries = texts.split("=".repeat(78)).map((entry) => entry.trim());
    for (const { name: each, version, license, within } of list) {
      const title = [each, version, `(${license})`].filter(Boolean).join(" ");
      const entry = entries.find((one) => one.startsWith(title));
      expect(entry?.length, title).toBeGreaterThan(300);
      if (within !== undefined) expect(list.map((other) => other.name)).toContain(within);
    }
  });

  it("leaves out nothing that the sources name", async () => {
    const listed = (await Promise.all(pages.map(listOf))).flat().map((each) => each.name);
    // What is drawn with, what reads codes, and what its C++ holds.
    expect(listed).toEqual(
      expect.arrayContaining([
        "preact",
        "@preact/signals",
        "@preact/signals-core",
        "zxing-wasm",
        "zxing-cpp",
        "libzueci",
        "uplot",
      ]),
    );
    for (const needed of await namedBySources()) {
      // Only its types, or none of its code, is left in the page.
      if (needed.startsWith("@tessera/") || needed.startsWith("node:") || isLeftOut.has(needed)) continue;
      expect(listed, needed).toContain(needed);
    }
  });
});

/** Sources beside those of the page use them. */
const isLeftOut: ReadonlySet<string> = new Set(["temporal-polyfill", "@2toad/profanity", "lru-cache"]);

describe("[G1.5] a package that is bundled", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "tessera-bundled-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function make(name: string, files: Readonly<Record<string, string>>): Promise<string> {
    const path = join(folder, "node_modules", name);
    await mkdir(join(path, "dist"), { recursive: true });
    for (const [file, content] of Object.entries(files)) await writeFile(join(path, file), content);
    return join(path, "dist", "index.js");
  }

  it("is found by its modules, with what it holds", async () => {
    const manifest = JSON.stringify({ name: "@scope/one", version: "1.2.3", license: "ISC" });
    const one = await make("@scope/one", { "package.json": manifest, "LICENSE.md": " Do as you like. \n" });
    const found = findBundled([one, `${one}?url`, `\0${one}`, join(folder, "src/main.ts")]);
    expect(found).toEqual([{ name: "@scope/one", version: "1.2.3", license: "ISC", text: "Do as you like." }]);
    expect(findBundled(["\0vite/preload-helper.js"])).toMatchObject([{ name: "vite", license: "MIT" }]);
  });

  it.each([
    ["without a text", { license: "MIT" }, {}, "bad, which is bundled, has no text of its license"],
    [
      "with an empty text",
      { license: "MIT" },
      { LICENSE: "\n" },
      "bad, which is bundled, has an empty text of its license",
    ],
    ["without a license", {}, { LICENSE: "text" }, "bad, which is bundled, names no license"],
  ])("%s fails the build", async (_name, manifest, files, message) => {
    const text = JSON.stringify({ name: "bad", version: "1.0.0", ...manifest });
    const bad = await make("bad", { "package.json": text, ...files });
    expect(() => findBundled([bad])).toThrow(message);
  });

  it("of an unknown bundler fails it, too", () => {
    expect(() => findBundled(["\0unheard-of/helper"])).toThrow("is of no known package");
  });
});
