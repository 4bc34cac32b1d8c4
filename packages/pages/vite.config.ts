import { defineConfig } from "vite";
import { compressFiles } from "./build/compress-files.ts";
import { listLicenses } from "./build/list-licenses.ts";
import { nameFiles } from "./build/name-files.ts";

const licenses = listLicenses();

/** One page, whose addresses are relative: a proxy may serve it below a path of its own. */
export default defineConfig({
  root: `${import.meta.dirname}/src/scan`,
  base: "./",
  publicDir: false,
  logLevel: "warn",
  resolve: { conditions: ["source", "module", "browser", "development|production"] },
  worker: { format: "es", plugins: () => [licenses.collect] },
  build: {
    outDir: `${import.meta.dirname}/dist/scan`,
    emptyOutDir: true,
    target: "es2022",
    // The policy of the page allows no address but its own: nothing is written into it as `data:`.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      input: {
        index: `${import.meta.dirname}/src/scan/index.html`,
        "service-worker": `${import.meta.dirname}/src/scan/service-worker.ts`,
      },
      // Browsers find a service worker by its name.
      output: { entryFileNames: ({ name }) => (name === "service-worker" ? "[name].js" : "assets/[name]-[hash].js") },
    },
  },
  plugins: [
    licenses.list,
    nameFiles(),
    compressFiles({
      mostBytes: 150 * 1024,
      isLater: (name) => /\.wasm$|\.txt$|decode\.worker|service-worker/.test(name),
    }),
  ],
});
