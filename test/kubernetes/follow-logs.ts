import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Kubernetes } from "./start-kubernetes.ts";

/** Passes on what containers print, those that have begun and those that begin later with the same names. */
export function followLogs(
  { kubectlCommand }: Kubernetes,
  {
    namespace,
    selector,
    onLogLine,
  }: { readonly namespace: string; readonly selector: string; readonly onLogLine: (line: string) => void },
): { stop(): Promise<void> } {
  const [program, ...args] = [...kubectlCommand, "logs", "--namespace", namespace, "--selector", selector];
  const process = spawn(program, [...args, "--follow", "--tail=-1", "--max-log-requests=40", "--all-containers"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = new Promise<void>((resolve) => process.once("close", () => resolve()));
  createInterface({ input: process.stdout }).on("line", onLogLine);
  return {
    async stop() {
      // What was printed a moment ago is still on its way.
      await sleep(1000);
      process.kill("SIGTERM");
      await ended;
    },
  };
}
