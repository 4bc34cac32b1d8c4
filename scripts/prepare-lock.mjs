// Runs under every Node that can say what is wrong with it: no syntax newer than Node 14.
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmdirSync, statSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";

const heartbeatMs = 2000;
/** Fifteen missed heartbeats: a machine that swaps misses some. */
const silentMs = 30_000;
/** A first install over a slow line takes minutes; beyond this somebody should look. */
const patienceMs = 15 * 60_000;

/**
 * Lets one process at a time work on the clone. A lock is taken over when its holder, and the command that the holder
 * was running, are gone from this machine, or when it has shown no heartbeat for as long as the next one waited.
 *
 * @template Result
 * @param {string} path
 * @param {(lock: { runs: (pid: number) => void }) => Promise<Result>} work
 * @param {{ onWait?: () => void }} [options]
 * @returns {Promise<Result>}
 */
export async function withLock(path, work, options = {}) {
  const holder = { token: randomBytes(8).toString("hex"), host: hostname(), pid: process.pid };
  const isMine = () => readHolder(path).token === holder.token;
  const release = () => {
    if (isMine()) unlessGone(() => unlinkSync(path));
  };
  mkdirSync(dirname(path), { recursive: true });
  await take(path, holder, options.onWait);
  process.on("exit", release);
  const heartbeat = setInterval(() => {
    if (isMine()) unlessGone(() => utimesSync(path, new Date(), new Date()));
  }, heartbeatMs);
  try {
    return await work({
      runs(pid) {
        if (isMine()) writeFileSync(path, JSON.stringify({ ...holder, runs: pid }));
      },
    });
  } finally {
    clearInterval(heartbeat);
    process.off("exit", release);
    release();
  }
}

/**
 * @param {string} path
 * @param {object} holder
 * @param {(() => void) | undefined} onWait
 */
async function take(path, holder, onWait) {
  const started = performance.now();
  // Silence is what this process has seen itself: the clock time of the last heartbeat jumps when a laptop wakes.
  let seen = { state: "", at: started };
  let told = false;
  for (;;) {
    try {
      writeFileSync(path, JSON.stringify(holder), { flag: "wx" });
      return;
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw error;
    }
    const state = stateOf(path);
    if (state !== seen.state) seen = { state, at: performance.now() };
    if (isGone(readHolder(path)) || performance.now() - seen.at > silentMs) removeAbandoned(path, state);
    else if (onWait !== undefined && !told) {
      told = true;
      onWait();
    }
    if (performance.now() - started > patienceMs)
      throw new Error(`${path} has been held for too long; end its holder or delete it`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/**
 * Two processes may find the same lock abandoned. Only the one that makes the directory looks again and removes, so
 * that the second cannot remove the lock that the first has taken meanwhile.
 *
 * @param {string} path
 * @param {string} state
 */
function removeAbandoned(path, state) {
  const claim = `${path}.claim`;
  try {
    mkdirSync(claim);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    if (Date.now() - modifiedAt(claim) > silentMs) unlessGone(() => rmdirSync(claim));
    return;
  }
  try {
    if (stateOf(path) === state) unlessGone(() => unlinkSync(path));
  } finally {
    unlessGone(() => rmdirSync(claim));
  }
}

/** @param {Holder} holder */
function isGone(holder) {
  if (holder.pid === undefined || holder.host !== hostname()) return false;
  return !isAlive(holder.pid) && (holder.runs === undefined || !isAlive(holder.runs));
}

/**
 * @typedef {{ token?: string, host?: string, pid?: number, runs?: number }} Holder
 * @param {string} path
 * @returns {Holder}
 */
function readHolder(path) {
  try {
    return /** @type {Holder} */ (JSON.parse(readFileSync(path, "utf8")));
  } catch {
    // Gone, or being written this moment.
    return {};
  }
}

/** @param {string} path */
function stateOf(path) {
  try {
    const { ino, mtimeMs } = statSync(path);
    return `${ino} ${mtimeMs}`;
  } catch {
    return "";
  }
}

/** @param {string} path */
function modifiedAt(path) {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return Date.now();
  }
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

/** @param {() => void} action */
function unlessGone(action) {
  try {
    action();
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return /** @type {NodeJS.ErrnoException} */ (error).code;
}
