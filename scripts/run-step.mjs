// Runs under every Node that can report its own version as too old: no syntax newer than Node 14.
import { spawn } from "node:child_process";

/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();
const onTerminal = process.stderr.isTTY === true;

/**
 * Runs a command without standard input and collects its output. On a terminal one line shows the elapsed time; elsewhere
 * nothing is printed.
 *
 * @param {{
 *   title: string,
 *   command: string,
 *   args: readonly string[],
 *   cwd: string,
 *   env?: NodeJS.ProcessEnv,
 *   limitSeconds: number,
 * }} step
 * @returns {Promise<{ ok: boolean, output: string, seconds: number }>}
 */
export function runStep(step) {
  const started = Date.now();
  const elapsed = () => (Date.now() - started) / 1000;
  return new Promise((resolve) => {
    /** @type {Buffer[]} */
    const printed = [];
    // A process group of its own, so that all processes of a step can be ended together.
    const child = spawn(step.command, step.args, {
      cwd: step.cwd,
      env: step.env || process.env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    running.add(child);
    child.stdout.on("data", (/** @type {Buffer} */ chunk) => printed.push(chunk));
    child.stderr.on("data", (/** @type {Buffer} */ chunk) => printed.push(chunk));

    let remark = "";
    const limit = setTimeout(() => {
      remark = `ended after ${step.limitSeconds} s without a result`;
      endGroup(child, "SIGTERM");
      setTimeout(() => endGroup(child, "SIGKILL"), 5000).unref();
    }, step.limitSeconds * 1000);
    const show = () => process.stderr.write(`\r\x1b[K${step.title}… ${Math.floor(elapsed())} s`);
    const showing = onTerminal ? setInterval(show, 1000) : undefined;
    if (onTerminal) show();

    let finished = false;
    const finish = (/** @type {boolean} */ ok) => {
      if (finished) return;
      finished = true;
      running.delete(child);
      clearTimeout(limit);
      clearInterval(showing);
      if (onTerminal) process.stderr.write("\r\x1b[K");
      const output = [Buffer.concat(printed).toString("utf8").trimEnd(), remark].filter((part) => part !== "");
      resolve({ ok, output: output.join("\n"), seconds: elapsed() });
    };
    child.on("error", (error) => {
      remark = `${step.command} cannot be run: ${error.message}`;
      finish(false);
    });
    // Not only "close": a process that outlives the step may keep the pipes open for ever.
    child.on("exit", (code, signal) => {
      if (signal !== null && remark === "") remark = `ended by ${signal}`;
      setTimeout(() => finish(code === 0), 50);
    });
    child.on("close", (code) => finish(code === 0));
  });
}

/** Ends every running step when this process gets a signal. */
export function endStepsOnSignal() {
  for (const [signal, status] of /** @type {const} */ ([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ])) {
    process.on(signal, () => {
      for (const child of running) endGroup(child, "SIGTERM");
      process.exit(status);
    });
  }
}

/**
 * @param {import("node:child_process").ChildProcess} child
 * @param {NodeJS.Signals} signal
 */
function endGroup(child, signal) {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}
