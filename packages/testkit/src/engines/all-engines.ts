import { findClientGenerators, installClientGenerators } from "./client-generators.ts";
import { type Availability, findProgram } from "./engine-process.ts";
import { helm } from "./helm.ts";
import { prepareKafka } from "./kafka-broker.ts";
import { findKubernetes, installKubernetes } from "./kubernetes-programs.ts";
import { findRedis, installRedis, type RedisFlavour } from "./redis-server.ts";
import { s3Program } from "./s3-server.ts";

interface Engine {
  /** Whether this machine can run it. */
  find(): Availability;
  /** Downloads what it needs, once per machine; that may take minutes. */
  install(): Promise<void>;
}

/** The real engines of tests, except PostgreSQL. */
export const engines: Readonly<Record<string, Engine>> = {
  kafka: {
    find: findKafka,
    install: async () => void (await prepareKafka()),
  },
  redis: {
    find: () => flavours.map((flavour) => findRedis(flavour)).find(({ available }) => available) ?? findRedis("valkey"),
    install: async () => {
      for (const flavour of flavours) if (findRedis(flavour).available) await installRedis(flavour);
    },
  },
  s3: {
    find: s3Program.find,
    install: async () => void (await s3Program.install()),
  },
  helm: {
    find: helm.find,
    install: async () => void (await helm.install()),
  },
  kubernetes: {
    find: findKubernetes,
    install: async () => void (await installKubernetes()),
  },
  clients: {
    find: findClientGenerators,
    install: async () => void (await installClientGenerators()),
  },
};

const flavours: readonly RedisFlavour[] = ["redis", "valkey"];

function findKafka(): Availability {
  const missing = ["java", "mvn"].filter((program) => findProgram(program) === undefined);
  if (missing.length === 0) return { available: true };
  return {
    available: false,
    reason: `there is no ${missing.join(" and no ")} on the PATH`,
    remedy: "Install Java 17 or newer and Maven; the broker itself comes from the Maven repository.",
  };
}
