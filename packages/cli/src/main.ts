#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { Fault } from "@tessera/kit/fault";
import { runVerb, type Verbs } from "./run-verb.ts";

// Half of a start is reading code; what one process has compiled the next one finds. Verbs are loaded behind this line.
enableCompileCache();

/** Everything the command can do. */
const verbs: Verbs = {
  serve: {
    summary: "serve all | NAME…: run the platform, or single services of it",
    load: async () => (await import("./serve.ts")).serve,
  },
  migrate: {
    summary: "migrate all | NAME…: bring schemas up to date",
    load: async () => (await import("./migrate.ts")).migrateServices,
  },
  import: {
    summary: "import FILE | - | --from-pretix URL: send records to a running platform",
    load: async () => (await import("./import.ts")).importRecords,
  },
  cluster: {
    summary: "cluster: run one process per part on this machine, with Kafka and Redis",
    load: async () => (await import("./cluster/cluster.ts")).cluster,
  },
  topics: {
    summary: "topics VERB: create topics, replay parked facts, rebuild what was lost",
    load: async () => (await import("./topics/topics.ts")).operateTopics,
  },
  doctor: {
    summary: "doctor [all | NAME…]: say what is wrong and how to mend it",
    load: async () => (await import("./doctor/doctor.ts")).doctor,
  },
  keys: {
    summary: "keys VERB: create, list and revoke API keys",
    load: async () => (await import("./credentials/operate-credentials.ts")).operateKeys,
  },
  devices: {
    summary: "devices VERB: create, list and revoke scanning devices",
    load: async () => (await import("./credentials/operate-credentials.ts")).operateDevices,
  },
  bench: {
    summary: "bench import: measure, print figures and ratios",
    load: async () => (await import("./bench.ts")).bench,
  },
};

/** What the system called it, where something cannot be reached: it tells a wrong name from a closed port. */
function reasonOf({ kind, cause }: Fault): string {
  const isNamed = kind === "unavailable" && cause instanceof Error && "code" in cause;
  return isNamed && typeof cause.code === "string" ? ` (${cause.code})` : "";
}

/** A connection that hangs, or that a driver has lost sight of, keeps a process alive; by then everything is done and told. */
const lingerMs = 200;

try {
  await runVerb("tessera", verbs, process.argv.slice(2));
} catch (error) {
  process.stderr.write(
    error instanceof Fault
      ? `tessera: ${error.message}${reasonOf(error)}\n`
      : `tessera: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exitCode = 1;
}
// Behind everything that was written: who reads it through a pipe may be slow.
process.stdout.write("", () => process.stderr.write("", () => void setTimeout(() => process.exit(), lingerMs).unref()));
