import { enableCompileCache } from "node:module";
import { runCommand, type Verbs } from "@tessera/cli/command/run-verb";

// Compiling takes half of a start, so processes share the result. Verbs are loaded after this line.
enableCompileCache();

const verbs: Verbs = {
  cluster: {
    summary: "cluster: run one process per part on this machine, with Kafka and Redis",
    load: async () => (await import("./cluster/cluster.ts")).cluster,
  },
  bench: {
    summary: "bench NAME: measure, print figures and ratios",
    load: async () => (await import("./bench/bench.ts")).bench,
  },
};

await runCommand("tessera-dev", verbs);
