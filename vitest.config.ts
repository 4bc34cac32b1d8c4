import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";

/** What a test file needs is its suffix; a plain `*.test.ts` needs nothing. */
const needs = {
  postgres: "**/*.db.test.ts",
  kafka: "**/*.kafka.test.ts",
  redis: "**/*.redis.test.ts",
  s3: "**/*.s3.test.ts",
  platform: "**/*.e2e.test.ts",
  cluster: "**/*.cluster.test.ts",
};

// "source" makes workspace packages run unbuilt; the rest is what vite assumes where no condition is given.
const conditions = ["source", "module", "node", "development|production"];

const startPostgres = "packages/testkit/src/vitest-postgres.ts";
const startKafka = "packages/testkit/src/vitest-kafka.ts";

function project(
  name: string,
  options: { include: string | string[]; exclude?: readonly string[]; timeoutSeconds: number; globalSetup?: string[] },
): TestProjectInlineConfiguration {
  const timeout = options.timeoutSeconds * 1000;
  return {
    extends: true,
    test: {
      name,
      include: [options.include].flat(),
      exclude: ["**/node_modules/**", "**/dist/**", ...(options.exclude ?? [])],
      testTimeout: timeout,
      hookTimeout: timeout,
      globalSetup: options.globalSetup ?? [],
    },
  };
}

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ["source", "node"] } },
  test: {
    // Processes, because tests start servers, send signals and change the environment.
    pool: "forks",
    execArgv: ["--conditions=source"],
    // The runner sizes itself by the machine's cores, not by those it may use.
    maxWorkers: 2,
    allowOnly: false,
    restoreMocks: true,
    unstubEnvs: true,
    silent: "passed-only",
    // Half an hour of daylight saving, on the other half of the year: code that reads the local zone shows itself.
    env: { TZ: "Australia/Lord_Howe" },
    projects: [
      project("unit", { include: "**/*.test.ts", exclude: Object.values(needs), timeoutSeconds: 10 }),
      project("db", { include: needs.postgres, timeoutSeconds: 30, globalSetup: [startPostgres] }),
      project("kafka", { include: needs.kafka, timeoutSeconds: 120, globalSetup: [startPostgres, startKafka] }),
      project("redis", { include: needs.redis, timeoutSeconds: 60 }),
      project("s3", { include: needs.s3, timeoutSeconds: 60 }),
      project("e2e", { include: needs.platform, timeoutSeconds: 120, globalSetup: [startPostgres] }),
    ],
  },
});
