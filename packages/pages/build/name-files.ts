import { createHash } from "node:crypto";
import type { Plugin } from "vite";

const worker = "service-worker.js";

/** Writes the names of all files of the page into its service worker, and a hash of them, so that each build has another one. */
export function nameFiles(): Plugin {
  return {
    name: "name-files",
    apply: "build",
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        const script = bundle[worker];
        if (script?.type !== "chunk") throw new Error(`the build has no ${worker}`);
        const files = Object.keys(bundle).filter((name) => name.startsWith("assets/"));
        const page = bundle["index.html"];
        if (files.length === 0 || page?.type !== "asset") throw new Error("the build has no page");
        const version = createHash("sha256").update(page.source).update(files.join("\n")).digest("hex").slice(0, 12);
        const before = script.code;
        script.code = before
          .replace("__FILES__", JSON.stringify(files))
          .replace("__VERSION__", JSON.stringify(version));
        if (/__(?:FILES|VERSION)__/.test(script.code) || script.code === before)
          throw new Error(`${worker} has no place for the names of files`);
      },
    },
  };
}
