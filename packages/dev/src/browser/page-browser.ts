import { link, mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { cacheDirectories, keepOnce } from "@tessera/kit/files/keep-once";
import { type Candidate, findChromium, keepSystemFont } from "@tessera/layout-and-render/browser/find-chromium";
import { createProfile } from "@tessera/layout-and-render/browser/profile";
import { unpackTar } from "@tessera/layout-and-render/browser/unpack-tar";
import puppeteer, { type Browser } from "puppeteer-core";

export type { Browser, Page } from "puppeteer-core";

export interface PageBrowser {
  readonly browser: Browser;
  close(): Promise<void>;
}

/**
 * Without a graphics card a browser draws frames by software, and the packaged browser does that only as a single process. It
 * has no sandbox, because it sees only our own pages.
 */
const flags = [
  ...["--no-sandbox", "--disable-dev-shm-usage", "--mute-audio", "--lang=en-US", "--force-color-profile=srgb"],
  ...["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"],
];
const inOneProcess = ["--single-process", "--no-zygote", "--in-process-gpu"];

/** Starts the first Chromium of this machine that runs, and draws. */
export async function startPageBrowser(): Promise<PageBrowser> {
  const fonts = await keepSystemFont();
  const failures: unknown[] = [];
  for await (const candidate of findChromium(process.env["CHROMIUM_PATH"])) {
    const isPackaged = candidate.libraries !== undefined;
    const profile = await createProfile({ fonts, libraries: candidate.libraries });
    try {
      const browser = await puppeteer.launch({
        executablePath: isPackaged ? await withSoftwareGraphics(candidate) : candidate.executable,
        headless: "shell",
        userDataDir: join(profile.folder, "data"),
        env: { ...profile.environment },
        args: [...flags, ...(isPackaged ? inOneProcess : [])],
        timeout: 20_000,
        protocolTimeout: 120_000,
      });
      return {
        browser,
        async close() {
          await browser.close();
          await profile.remove();
        },
      };
    } catch (error) {
      await profile.remove();
      failures.push(error);
    }
  }
  throw new AggregateError(failures, "no Chromium starts here; set CHROMIUM_PATH to one that does");
}

/** The packaged browser beside the libraries that draw for it, which printing needs not. */
async function withSoftwareGraphics({ executable }: Candidate): Promise<string> {
  const require = createRequire(import.meta.resolve("@tessera/layout-and-render/browser/find-chromium"));
  const packed = join(dirname(dirname(require.resolve("@sparticuz/chromium"))), "bin", "swiftshader.tar.br");
  const [cache = ""] = cacheDirectories();
  const folder = await keepOnce({
    cache,
    name: `drawing-${dirname(executable).split("/").at(-1)}`,
    fill: async (draft) => {
      await mkdir(draft, { recursive: true, mode: 0o755 });
      await unpackTar(await promisify(brotliDecompress)(await readFile(packed)), draft);
      await link(executable, join(draft, "chromium"));
    },
  });
  return join(folder, "chromium");
}
