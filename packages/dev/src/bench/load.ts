import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { eventPath } from "./client.ts";
import type { Load, LoadResult } from "./load-process.ts";
import { apiKey } from "./records.ts";

export type { LoadResult };

/** A process of its own that sends scans. */
export interface LoadProcess {
  /** Sends scans for some seconds, or until something has happened. */
  run(load: Pick<Load, "perSecond" | "seconds" | "firstTicket">, until?: Promise<unknown>): Promise<LoadResult>;
}

/** Works with the process that sends scans to the first list of a gateway. */
export async function withLoad<T>(
  { baseUrl, connections = 64 }: { readonly baseUrl: string; readonly connections?: number },
  work: (load: LoadProcess) => Promise<T>,
): Promise<T> {
  const { hostname, port } = new URL(baseUrl);
  const child = fork(fileURLToPath(import.meta.resolve("@tessera/dev/bench/load-process")));
  const path = `${eventPath}/checkinlists/1/positions/`;
  try {
    return await work({
      async run(load, until) {
        const whole: Load = { host: hostname, port: Number(port), apiKey, path, connections, ...load };
        child.send(whole);
        const end = () => void child.send("end");
        until?.then(end, end);
        const [result] = (await once(child, "message")) as [LoadResult];
        return result;
      },
    });
  } finally {
    child.kill();
  }
}
