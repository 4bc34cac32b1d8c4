import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const prefix = "tessera-npm-test-";

/** Makes a folder for temporary files, which is removed when this process ends. */
export function makeScratchFolder() {
  const parent = memoryFolder() ?? tmpdir();
  removeLeftovers(parent);
  const scratch = mkdtempSync(join(parent, prefix));
  process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
  // Servers that must not run as root need access to their files in it.
  chmodSync(scratch, 0o711);
  return scratch;
}

/**
 * A folder in memory, if there is enough room. On a disk the tests wait for a third of their time, and a disk that pauses
 * for a second looks like a platform that pauses.
 */
function memoryFolder() {
  const shared = "/dev/shm";
  const gibibyte = 1024 ** 3;
  const inMemory = 0x01_02_19_94;
  if (process.env["TMPDIR"] !== undefined || !existsSync(shared)) return undefined;
  const { type, bavail, bsize } = statfsSync(shared);
  const hasRoom = bavail * bsize > 6 * gibibyte && process.availableMemory() > 12 * gibibyte;
  return type === inMemory && hasRoom ? shared : undefined;
}

/**
 * Removes scratch folders of killed runs: no run takes half a day. Folders of other users stay.
 *
 * @param {string} parent
 */
function removeLeftovers(parent) {
  const before = Date.now() - 43_200_000;
  for (const name of readdirSync(parent).filter((entry) => entry.startsWith(prefix))) {
    const path = join(parent, name);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.uid !== process.getuid?.() || found.mtimeMs >= before) continue;
    rmSync(path, { recursive: true, force: true });
  }
}
