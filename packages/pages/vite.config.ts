import { defineConfig } from "vite";
import { compressFiles } from "./build/compress-files.ts";
import { listLicenses } from "./build/list-licenses.ts";
import { nameFiles } from "./build/name-files.ts";

/** Pages that start without a network. */
const withWorker: ReadonlySet<string> = new Set(["scan"]);

/** One page, `--mode scan` or `--mode board`. Its addresses are relative: a proxy may serve it below a path of its own. */
export default defineConfig(({ mode: page }) => {
  const licenses = listLicenses();
  const source = `${import.meta.dirname}/src/${page}`;
  return {
    root: source,
    base: "./",
    publicDir: false,
    logLevel: "warn",
    resolve: { conditions: ["source", "module", "browser", "development|production"] },
    worker: { format: "es", plugins: () => [licenses.collect] },
    build: {
      outDir: `${import.meta.dirname}/dist/${page}`,
      emptyOutDir: true,
      target: "es2022",
      // The policy of the page allows no address but its own: nothing is written into it as `data:`.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rolldownOptions: {
        input: {
          index: `${source}/index.html`,
          ...(withWorker.has(page) ? { "service-worker": `${source}/service-worker.ts` } : {}),
        },
        // Browsers find a service worker by its name.
        output: { entryFileNames: ({ name }) => (name === "service-worker" ? "[name].js" : "assets/[name]-[hash].js") },
      },
    },
    plugins: [
      licenses.list,
      ...(withWorker.has(page) ? [nameFiles()] : []),
      compressFiles({
        mostBytes: 150 * 1024,
        isLater: (name) => /\.wasm$|\.txt$|decode\.worker|service-worker/.test(name),
      }),
    ],
  };
});
