import { describe, it } from "vitest";
import { findRedis, type RedisFlavour } from "./engines/redis-server.ts";

/** Runs tests against both servers; for one that cannot be had here, the summary says why and how to get it. */
export function describeEachRedis(title: string, tests: (flavour: RedisFlavour) => void): void {
  describe.each(["redis", "valkey"] as const)(title, (flavour) => {
    const found = findRedis(flavour);
    if (found.available) tests(flavour);
    else it("can be had here", ({ skip }) => skip(`${found.reason}. ${found.remedy}`));
  });
}
