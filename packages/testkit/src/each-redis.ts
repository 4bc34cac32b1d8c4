import { describe, expect, it } from "vitest";
import type { Availability } from "./engines/engine-process.ts";
import { findRedis, type RedisFlavour } from "./engines/redis-server.ts";

const flavours: readonly RedisFlavour[] = ["redis", "valkey"];

/** Runs tests on both servers. For a missing one, the summary has the reason and how to get it. */
export function describeEachRedis(title: string, tests: (flavour: RedisFlavour) => void): void {
  const found = flavours.map((flavour) => ({ flavour, ...findRedis(flavour) }));
  for (const { flavour, available } of found) {
    if (!available) continue;
    describe(title.replace("%s", flavour), () => {
      tests(flavour);
    });
  }
  it.for(found.filter(({ available }) => !available))("$flavour can be had here", (absent, { skip }) => {
    skip(whyNot(absent));
    expect(absent.available).toBe(true);
  });
}

function whyNot(found: Availability): string {
  return found.available ? "" : `${found.reason}. ${found.remedy}`;
}
