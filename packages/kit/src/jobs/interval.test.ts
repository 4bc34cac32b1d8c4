import { describe, expect, it } from "vitest";
import { createLog } from "../telemetry/log.ts";
import { runJobs } from "./interval.ts";

describe("a job", () => {
  it("that fails runs again, later each time, and at its interval once it has succeeded", async () => {
    const lines: string[] = [];
    const log = createLog({ service: "test", level: "error", destination: { write: (line) => lines.push(line) } });
    const runs: number[] = [];
    const runner = runJobs(
      [
        {
          name: "stumbles",
          everyMs: 20,
          run: async () => {
            runs.push(performance.now());
            if (runs.length <= 3) throw new Error("not yet");
          },
        },
      ],
      log,
    );
    await expect.poll(() => runs.length).toBeGreaterThanOrEqual(8);
    await runner.stop();
    const pauses = runs.slice(1).map((at, index) => at - (runs[index] ?? 0));
    expect(pauses[0]).toBeGreaterThanOrEqual(39);
    expect(pauses[1]).toBeGreaterThanOrEqual(79);
    expect(pauses[2]).toBeGreaterThanOrEqual(159);
    expect(2 * Math.min(...pauses.slice(3))).toBeLessThan(pauses[2] ?? 0);
    expect(lines).toHaveLength(3);
  });
});
