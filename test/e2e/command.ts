import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly process: ChildProcess;
  /** Resolves with everything printed so far when the text has appeared; rejects when the command ends or nine minutes pass first. */
  printed(text: string): Promise<string>;
  readonly ended: Promise<Ended>;
}

/** Only a slow machine makes it. */
function withoutProgress(stderr: string): string {
  return stderr.replace(/^progress: .*\n/gm, "");
}

const main = fileURLToPath(import.meta.resolve("@tessera/cli/main"));

/** Runs the `tessera` command from its sources, as a child process without a terminal. */
export function runCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): RunningCommand {
  const { TESSERA_OPERATOR_KEY: _key, DATABASE_URL: _url, BASE_URL: _base, ...inherited } = process.env;
  const child = spawn(
    process.execPath,
    ["--conditions=source", "--disable-warning=ExperimentalWarning", main, ...args],
    {
      env: { ...inherited, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  let stdout = "";
  let stderr = "";
  const watchers = new Set<() => void>();
  const notify = () => {
    for (const watcher of watchers) watcher();
  };
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
    notify();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (code) => {
      resolve({ code, stdout, stderr: withoutProgress(stderr) });
      notify();
    });
  });
  return {
    process: child,
    ended,
    printed: (text) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`"${text}" was not printed within nine minutes; standard error: ${stderr}`)),
          540_000,
        );
        const look = () => {
          if (stdout.includes(text)) resolve(stdout);
          else if (child.exitCode !== null || child.signalCode !== null)
            reject(new Error(`the command ended first: ${stderr}`));
          else return;
          clearTimeout(timer);
          watchers.delete(look);
        };
        watchers.add(look);
        look();
      }),
  };
}
