import type { Job } from "@tessera/kit/jobs/interval";
import { type HoldTools, releaseHold } from "../capacity/holds.ts";
import { findHoldsToRelease } from "../store/asked-holds.ts";

const everyMs = 5000;

/** Longer than any request that may still confirm a hold. */
const graceSeconds = 60;

const atATime = 100;

/** Releases holds whose request was killed, and holds whose release has failed. */
export function releaseHolds(tools: HoldTools): Job {
  return {
    name: "release-holds",
    everyMs,
    async run(signal) {
      const holds = await findHoldsToRelease(tools.db, { seconds: graceSeconds, limit: atATime });
      for (const hold of holds) if (!signal.aborted) await releaseHold(tools, hold);
    },
  };
}
