// Runs under every Node that can report its own version as too old: no syntax newer than Node 14.
import { randomBytes } from "node:crypto";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";

const heartbeatMs = 2000;
/** Fifteen missed heartbeats: a machine that swaps misses some. */
const silentMs = 30_000;
/** A first install over a slow line takes minutes. */
const patienceMs = 15 * 60_000;

/**
 * Lets one process at a time work on the clone. A lock is abandoned when its holder and the command of the holder have
 * ended on this machine, or when it has had no heartbeat for a while.
 *
 * The lock is a folder with one file, named after its holder. `rename` moves folder and file into place together; it
 * replaces no folder that holds a file. A lock is removed by deleting the file of that one holder: two processes that
 * find the same abandoned lock cannot remove the lock that a third has taken since.
 *
 * @template Result
 * @param {string} path
 * @param {(lock: { runs: (pid: number) => void }) => Promise<Result>} work
 * @param {{ onWait?: () => void }} [options]
 * @returns {Promise<Result>}
 */
export async function withLock(path, work, options = {}) {
  const holder = [process.pid, hostname(), randomBytes(8).toString("hex")].join("~");
  const file = join(path, holder);
  await take(path, holder, options.onWait);
  const release = () => unlessMissing(() => unlinkSync(file));
  process.on("exit", release);
  const heartbeat = setInterval(() => unlessMissing(() => utimesSync(file, new Date(), new Date())), heartbeatMs);
  try {
    // Never creates the file: another process may have removed this lock as abandoned. All ids have the same length.
    return await work({
      runs: (pid) => unlessMissing(() => writeFileSync(file, String(pid).padEnd(12), { flag: "r+" })),
    });
  } finally {
    clearInterval(heartbeat);
    process.off("exit", release);
    release();
  }
}

/**
 * @param {string} path
 * @param {string} holder
 * @param {(() => void) | undefined} onWait
 */
async function take(path, holder, onWait) {
  const started = performance.now();
  // This process measures the silence by itself: the age of the last heartbeat jumps when a laptop wakes.
  let seen = { state: "", at: started };
  let announce = onWait || (() => {});
  while (!tryTake(path, holder)) {
    for (const other of list(path)) {
      const state = stateOf(join(path, other));
      if (state !== seen.state) seen = { state, at: performance.now() };
      if (hasEnded(path, other) || performance.now() - seen.at > silentMs) {
        unlessMissing(() => unlinkSync(join(path, other)));
      } else {
        announce();
        announce = () => {};
      }
    }
    if (performance.now() - started > patienceMs)
      throw new Error(`${path} has been held for too long; end its holder or delete it`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/**
 * @param {string} path
 * @param {string} holder
 */
function tryTake(path, holder) {
  const draft = `${path}.${holder}`;
  mkdirSync(draft, { recursive: true });
  writeFileSync(join(draft, holder), "");
  try {
    renameSync(draft, path);
    return true;
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (codeOf(error) === "ENOTEMPTY" || codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/**
 * @param {string} path
 * @param {string} holder
 */
function hasEnded(path, holder) {
  const [pid, host] = holder.split("~");
  const runs = unlessMissing(() => readFileSync(join(path, holder), "utf8")) || "";
  return host === hostname() && !isAlive(Number(pid)) && (Number(runs) === 0 || !isAlive(Number(runs)));
}

/** @param {string} path */
function list(path) {
  return unlessMissing(() => readdirSync(path)) || [];
}

/** @param {string} file */
function stateOf(file) {
  const found = unlessMissing(() => statSync(file));
  return found === undefined ? "" : `${found.ino} ${found.mtimeMs}`;
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

/**
 * @template Result
 * @param {() => Result} action
 */
function unlessMissing(action) {
  try {
    return action();
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    return undefined;
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return /** @type {NodeJS.ErrnoException} */ (error).code;
}
