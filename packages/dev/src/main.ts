import { enableCompileCache } from "node:module";
import { runCommand, type Verbs } from "@tessera/cli/run-verb";

// Half of a start is reading code: one process compiles it, the next finds it compiled. Verbs are loaded behind this line.
enableCompileCache();

/** What developers run beside the product. */
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
