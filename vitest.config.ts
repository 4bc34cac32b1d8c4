import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";

/** What a test file needs is its suffix; a plain `*.test.ts` needs nothing. */
const needs = {
  postgres: "**/*.db.test.ts",
  kafka: "**/*.kafka.test.ts",
  redis: "**/*.redis.test.ts",
  s3: "**/*.s3.test.ts",
  helm: "**/*.helm.test.ts",
  platform: "**/*.e2e.test.ts",
  cluster: "**/*.cluster.test.ts",
  processes: "**/*.processes.test.ts",
  fire: "**/*.fire.test.ts",
  kubernetes: "**/*.kubernetes.test.ts",
  clients: "**/*.clients.test.ts",
};

// "source" makes workspace packages run unbuilt; the rest is what vite assumes where no condition is given.
const conditions = ["source", "node", "development|production"];

const startPostgres = "packages/testkit/src/vitest-postgres.ts";
const startKafka = "packages/testkit/src/vitest-kafka.ts";
const startRedis = "packages/testkit/src/vitest-redis.ts";

/** These kill less often, and wait less, where little time is. */
const killed = [
  "test/failure/kafka-away.cluster.test.ts",
  "test/failure/process-killed.e2e.test.ts",
  "test/failure/processes-end.cluster.test.ts",
  "test/failure/shredding.cluster.test.ts",
];

function project(
  name: string,
  options: {
    include: string | readonly string[];
    exclude?: readonly string[];
    timeoutSeconds: number;
    globalSetup?: string[];
    env?: Record<string, string>;
  },
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
      ...(options.env === undefined ? {} : { env: options.env }),
    },
  };
}

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: ["source", "node"] } },
  test: {
    // Processes, because tests start servers, send signals and change the environment. The files that one of them runs
    // share its modules: loading them again for each file costs more than most tests. Each file undoes what it changes.
    pool: "forks",
    isolate: false,
    // Node runs the sources as they are, and keeps what it has compiled.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    execArgv: ["--conditions=source"],
    // The runner sizes itself by the machine's cores, not by those it may use.
    maxWorkers: 2,
    allowOnly: false,
    restoreMocks: true,
    // A list that should have been empty is shown whole, and not as its length.
    chaiConfig: { truncateThreshold: 2000 },
    // For hangs alone: tests wait for an outcome as long as a busy machine takes.
    expect: { poll: { timeout: 110_000 } },
    unstubEnvs: true,
    silent: "passed-only",
    // Half an hour of daylight saving, on the other half of the year: code that reads the local zone shows itself.
    env: { TZ: "Australia/Lord_Howe" },
    projects: [
      project("unit", { include: "**/*.test.ts", exclude: Object.values(needs), timeoutSeconds: 120 }),
      project("db", { include: needs.postgres, timeoutSeconds: 300, globalSetup: [startPostgres] }),
      project("kafka", { include: needs.kafka, timeoutSeconds: 300, globalSetup: [startPostgres, startKafka] }),
      project("redis", { include: needs.redis, timeoutSeconds: 300 }),
      project("s3", { include: needs.s3, timeoutSeconds: 300 }),
      project("helm", { include: needs.helm, timeoutSeconds: 300 }),
      project("e2e", { include: needs.platform, timeoutSeconds: 600, globalSetup: [startPostgres] }),
      project("cluster", {
        include: needs.cluster,
        timeoutSeconds: 600,
        globalSetup: [startPostgres, startKafka, startRedis],
        env: { PLATFORM: "processes" },
      }),
      // The suites of "e2e" once more: `npm test -- --only=processes`.
      project("processes", {
        include: needs.processes,
        timeoutSeconds: 600,
        globalSetup: [startPostgres, startKafka, startRedis],
        env: { PLATFORM: "processes" },
      }),
      // Each fault several times, and what takes long: `npm run test:fire`.
      project("fire", {
        include: [needs.fire, "test/fire/**/*.cluster.test.ts", ...killed],
        timeoutSeconds: 600,
        globalSetup: [startPostgres, startKafka, startRedis],
        env: { PLATFORM: "processes", FIRE_ROUNDS: process.env["FIRE_ROUNDS"] ?? "2" },
      }),
      // Clients in several languages, generated, compiled and run: `npm run test:clients`.
      project("clients", {
        include: needs.clients,
        timeoutSeconds: 1800,
        globalSetup: [startPostgres],
        env: { PLATFORM: "inprocess" },
      }),
      // A cluster and its images on this machine: `npm run test:cluster`.
      project("kubernetes", { include: needs.kubernetes, timeoutSeconds: 1800, env: { PLATFORM: "installed" } }),
    ],
  },
});
