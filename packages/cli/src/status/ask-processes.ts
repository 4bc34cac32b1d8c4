import { systemClock } from "@tessera/kit/clock";
import { askHttp } from "../local/ask-http.ts";
import type { LocalProcess } from "../local/local-platform.ts";
import { readReadiness } from "../local/read-readiness.ts";

/** The readiness that a process reports. */
export interface ProcessState extends LocalProcess {
  readonly state: string;
}

/** Asks the processes of this machine whether they are ready. */
export function askProcesses(processes: readonly LocalProcess[]): Promise<ProcessState[]> {
  return Promise.all(processes.map(async (one) => ({ ...one, state: await askState(one) })));
}

async function askState({ operationsPort }: LocalProcess): Promise<string> {
  const url = `http://localhost:${operationsPort}/readyz`;
  const options = { signal: new AbortController().signal, clock: systemClock };
  const text = await askHttp(url, options).then(
    (answer) => answer.text,
    () => undefined,
  );
  const readiness = text === undefined ? undefined : readReadiness(text);
  if (readiness === undefined) return "does not answer";
  if (readiness.ready) return "ready";
  const missing = Object.entries(readiness.dependencies).filter(([, state]) => state !== "ok");
  return missing.length === 0 ? readiness.stage : `not ready: ${missing.map(([name]) => name).join(", ")}`;
}
