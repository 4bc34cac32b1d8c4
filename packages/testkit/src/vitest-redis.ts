import { type RedisServer, startRedis } from "./engines/redis-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    redisUrl: string;
  }
}

interface Project {
  provide(name: "redisUrl", value: string): void;
}

let redis: RedisServer | undefined;

/** Starts one real Redis for all test files of a run. */
export async function setup(project: Project): Promise<void> {
  redis = await startRedis();
  project.provide("redisUrl", redis.url);
}

export async function teardown(): Promise<void> {
  await redis?.stop();
}
