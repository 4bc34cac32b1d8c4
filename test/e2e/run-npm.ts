import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { isRunning } from "@tessera/kit/service/running-process";
import { expect } from "vitest";
import { type FoundProcess, findDescendants } from "./find-processes.ts";
import { sources } from "./follow-page.ts";

/** A command of package.json that runs until a signal, as in a terminal. */
export interface NpmCommand {
  /** Resolves with everything printed so far when the text has appeared. */
  printed(text: string): Promise<string>;
  /** All processes that it has started. */
  processes(): Promise<readonly FoundProcess[]>;
  /**
   * Signals all processes in the terminal, as Ctrl-C and its end do; npm passes the signal on, so the command gets two.
   * Resolves, when it has ended, to what still runs of all that it has started.
   */
  interrupt(signal: "SIGINT" | "SIGHUP"): Promise<readonly string[]>;
  end(): Promise<void>;
}

/** Runs an npm command with options, in these sources. */
export function runNpm(command: string, options: readonly string[]): NpmCommand {
  const [npm = "", ...args] = command.split(/\s+/);
  // What the runner of the tests has set is not for a person's terminal.
  const { PATH = "", HOME = "" } = process.env;
  const child = spawn(npm, [...args, "--", ...options], {
    cwd: sources,
    env: { PATH, HOME },
    // The leader of a group, as in a terminal.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const signalAll = (signal: NodeJS.Signals) => {
    if (child.pid !== undefined && !hasEnded()) process.kill(-child.pid, signal);
  };
  const processes = () => findDescendants(child.pid ?? 0);
  return {
    processes,
    async printed(text) {
      const look = () => output.includes(text) || (hasEnded() ? `it ended: ${output}` : false);
      await expect.poll(look, { timeout: 540_000 }).toBe(true);
      return output;
    },
    async interrupt(signal) {
      const all = await processes();
      signalAll(signal);
      await ended;
      const left = () => all.filter(({ pid }) => isRunning(pid)).map(({ args: text }) => text);
      // A process closes its output some milliseconds before it has ended.
      for (let tries = 0; tries < 20 && left().length > 0; tries += 1) await sleep(100);
      return left();
    },
    async end() {
      signalAll("SIGTERM");
      await ended;
    },
  };
}
