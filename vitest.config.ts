import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";

/** What a test file needs is its suffix; a plain `*.test.ts` needs nothing. */
const needs = { postgres: "**/*.db.test.ts", everything: "**/*.e2e.test.ts" };

// "source" makes workspace packages run unbuilt; the rest is what vite assumes where no condition is given.
const conditions = ["source", "module", "node", "development|production"];

const startPostgres = "packages/testkit/src/vitest-postgres.ts";

function project(
  name: string,
  options: { include: string; exclude?: readonly string[]; timeoutSeconds: number; globalSetup?: string },
): TestProjectInlineConfiguration {
  const timeout = options.timeoutSeconds * 1000;
  return {
    extends: true,
    test: {
      name,
      include: [options.include],
      exclude: ["**/node_modules/**", "**/dist/**", ...(options.exclude ?? [])],
      testTimeout: timeout,
      hookTimeout: timeout,
      globalSetup: options.globalSetup === undefined ? [] : [options.globalSetup],
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
      project("db", { include: needs.postgres, timeoutSeconds: 30, globalSetup: startPostgres }),
      project("e2e", { include: needs.everything, timeoutSeconds: 120, globalSetup: startPostgres }),
    ],
  },
});
