import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

export interface CompressOptions {
  /** The limit of all that is loaded before a person sees the page, compressed with gzip. */
  readonly mostBytes: number;
  /** Files that are loaded when the page is in use. */
  readonly isLater: (name: string) => boolean;
}

/** Writes each file compressed beside it, and fails when the first view of the page grows too large. */
export function compressFiles({ mostBytes, isLater }: CompressOptions): Plugin {
  return {
    name: "compress-files",
    apply: "build",
    writeBundle({ dir }) {
      if (dir === undefined) throw new Error("the build names no folder");
      let first = 0;
      for (const name of readdirSync(dir, { recursive: true, encoding: "utf8" })) {
        if (!/\.(?:html|js|css|wasm|svg|webmanifest|txt)$/.test(name)) continue;
        const path = join(dir, name);
        const plain = readFileSync(path);
        const zipped = gzipSync(plain, { level: 9 });
        const quality = plain.length > 200_000 ? 9 : 11;
        writeFileSync(`${path}.gz`, zipped);
        writeFileSync(
          `${path}.br`,
          brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } }),
        );
        if (!isLater(name)) first += zipped.length;
      }
      if (first > mostBytes)
        this.error(`the first view has ${first} bytes, of which ${mostBytes} are allowed: load less of it at once`);
      this.info(`the first view has ${first} bytes`);
    },
  };
}
