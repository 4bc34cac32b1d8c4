import { createHash } from "node:crypto";
import type { Plugin, Rolldown } from "vite";
import type { Bundled, Licensed } from "./bundled.ts";
import { findBundled } from "./bundled-packages.ts";

/**
 * Writes what a page is made of: the texts of the licenses, as a file of the page that its head names, and `bundled.json` for
 * the bill of materials. `collect` belongs to the builds of workers, which are bundles of their own.
 */
export function listLicenses(): { readonly list: Plugin; readonly collect: Plugin } {
  const modules = new Set<string>();
  let bundled: readonly Licensed[] = [];
  let file = { fileName: "", source: "" };
  return {
    collect: {
      name: "collect-modules",
      generateBundle: (_options, bundle) => addModules(modules, bundle),
    },
    list: {
      name: "list-licenses",
      apply: "build",
      enforce: "post",
      transformIndexHtml: {
        order: "post",
        handler(_html, { bundle }) {
          if (bundle === undefined) return [];
          addModules(modules, bundle);
          bundled = findBundled(modules);
          const source = write(bundled);
          file = {
            fileName: `assets/licenses-${createHash("sha256").update(source).digest("hex").slice(0, 8)}.txt`,
            source,
          };
          const attributes = { rel: "license", type: "text/plain", href: `./${file.fileName}` };
          return [{ tag: "link", attrs: attributes, injectTo: "head" }];
        },
      },
      generateBundle() {
        if (file.fileName === "") this.error("no page names its licenses");
        this.emitFile({ type: "asset", ...file });
        const list = bundled.map(({ text: _text, ...component }): Bundled => component);
        this.emitFile({ type: "asset", fileName: "bundled.json", source: `${JSON.stringify(list, null, 1)}\n` });
      },
    },
  };
}

/** What is left of a module in the end counts: the others are in no file. */
function addModules(modules: Set<string>, bundle: Rolldown.OutputBundle): void {
  for (const output of Object.values(bundle)) {
    if (output.type !== "chunk") continue;
    for (const [id, { renderedLength }] of Object.entries(output.modules)) if (renderedLength > 0) modules.add(id);
  }
}

function write(bundled: readonly Licensed[]): string {
  const head = "This page is made of the following, besides Tessera itself.\n";
  const entries = bundled.map(({ name, version, license, within, text }) => {
    const title = [name, version, `(${license})`, ...(within === undefined ? [] : [`in ${within}`])];
    return `\n${"=".repeat(78)}\n${title.filter(Boolean).join(" ")}\n\n${text}\n`;
  });
  return head + entries.join("");
}
