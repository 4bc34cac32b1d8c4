import { existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The version of this build. */
export const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  version: string;
};

/** The version, and the commit of the clone that this runs from: `0.1.0 (commit 1a2b3c4d5e6f)`. */
export function nameRelease(clone = fileURLToPath(new URL("../../../", import.meta.url))): string {
  const commit = readCommit(clone);
  return commit === undefined ? version : `${version} (commit ${commit.slice(0, 12)})`;
}

/** Reads the commit of a clone without git, which refuses the clones of other users. Undefined: this is no clone. */
function readCommit(clone: string): string | undefined {
  try {
    const own = join(clone, ".git");
    const git = statSync(own).isDirectory() ? own : resolve(clone, read(own).replace("gitdir: ", ""));
    const head = read(join(git, "HEAD"));
    const ref = /^ref: (.+)$/.exec(head)?.[1];
    if (ref === undefined) return head;
    const common = join(git, "commondir");
    const shared = existsSync(common) ? resolve(git, read(common)) : git;
    const loose = join(shared, ref);
    if (existsSync(loose)) return read(loose);
    const packed = read(join(shared, "packed-refs")).split("\n");
    return packed.find((line) => line.endsWith(` ${ref}`))?.split(" ")[0];
  } catch {
    return undefined;
  }
}

function read(path: string): string {
  return readFileSync(path, "utf8").trim();
}
