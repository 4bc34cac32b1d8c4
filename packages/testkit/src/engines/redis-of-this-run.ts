import { inject } from "vitest";
import type {} from "../vitest-redis.ts";

/** The Redis that this run of the tests has started. */
export function redisOfThisRun(): string {
  return inject("redisUrl");
}
