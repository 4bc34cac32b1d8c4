import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { apiKey } from "./on-empty-platform.ts";
import type { Load, LoadResult } from "./redeem-load.ts";

export type { LoadResult };

const positions = "/api/v1/organizers/bench/events/festival/checkinlists/1/positions/";
const usualConnections = 64;

/** A process of its own that sends scans. */
export interface LoadProcess {
  run(load: Pick<Load, "perSecond" | "seconds" | "firstTicket">): Promise<LoadResult>;
  stop(): void;
}

/** Starts the process that sends scans to a gateway. */
export async function startLoad(
  baseUrl: string,
  { connections = usualConnections }: { readonly connections?: number } = {},
): Promise<LoadProcess> {
  const { hostname, port } = new URL(baseUrl);
  const child = fork(fileURLToPath(import.meta.resolve("@tessera/dev/bench/redeem-load")));
  return {
    async run(load) {
      const whole: Load = { host: hostname, port: Number(port), apiKey, path: positions, connections, ...load };
      child.send(whole);
      const [result] = (await once(child, "message")) as [LoadResult];
      return result;
    },
    stop: () => void child.kill(),
  };
}
