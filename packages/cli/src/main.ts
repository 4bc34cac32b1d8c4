#!/usr/bin/env node
import { Fault } from "@tessera/kit/fault";

interface Verb {
  readonly summary: string;
  load(): Promise<(args: string[]) => Promise<void>>;
}

/** Everything the command can do. */
const verbs: Readonly<Record<string, Verb>> = {
  serve: {
    summary: "serve all | NAME…: run the platform, or single services of it",
    load: async () => (await import("./serve.ts")).serve,
  },
  migrate: {
    summary: "migrate all | NAME…: bring schemas up to date",
    load: async () => (await import("./migrate.ts")).migrateServices,
  },
  import: {
    summary: "import FILE | -: send records to a running platform",
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
  bench: {
    summary: "bench import: measure, print figures and ratios",
    load: async () => (await import("./bench.ts")).bench,
  },
};

const usage = `tessera VERB [OPTIONS]

${Object.values(verbs)
  .map((verb) => `  ${verb.summary}`)
  .join("\n")}

tessera VERB --help tells more.
`;

async function main(args: string[]): Promise<void> {
  const [name = "", ...rest] = args;
  if (name === "" || name === "--help" || name === "help") {
    process.stdout.write(usage);
    return;
  }
  const verb = verbs[name];
  if (verb === undefined)
    throw new Fault("invalid", "unknown_verb", `there is no verb ${name}; \`tessera help\` lists them`);
  const run = await verb.load();
  await run(rest);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(
    error instanceof Fault
      ? `tessera: ${error.message}\n`
      : `tessera: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exitCode = 1;
}
