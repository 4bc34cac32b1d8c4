import { startRedis } from "./engines/redis-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    redisUrl: string;
  }
}

interface Project {
  provide(name: "redisUrl", value: string): void;
}

/** Starts one real Redis for all test files of a run. */
export async function setup(project: Project): Promise<() => Promise<void>> {
  const redis = await startRedis();
  project.provide("redisUrl", redis.url);
  return () => redis.stop();
}

export default setup;
