import type { Verbs } from "./command/run-verb.ts";

export const verbs: Verbs = {
  serve: {
    summary: "serve all | NAME…: run the platform, or single services of it",
    load: async () => (await import("./serve/serve.ts")).serve,
  },
  migrate: {
    summary: "migrate all | NAME…: bring schemas up to date",
    load: async () => (await import("./migrate.ts")).migrateServices,
  },
  status: {
    summary: "status: show what runs here, which events it has, and whether facts are late",
    load: async () => (await import("./status/status.ts")).showStatus,
  },
  import: {
    summary: "import FILE | - | --from-pretix URL: send records to a running platform",
    load: async () => (await import("./import/import.ts")).importRecords,
  },
  topics: {
    summary: "topics VERB: create topics, replay parked facts, rebuild lost topics and copies",
    load: async () => (await import("./topics/topics.ts")).operateTopics,
  },
  doctor: {
    summary: "doctor [all | NAME…]: say what is wrong and how to mend it",
    load: async () => (await import("./doctor/doctor.ts")).doctor,
  },
  simulate: {
    summary: "simulate: let visitors come to gates, and say whether the platform would hold",
    load: async () => (await import("./simulate/simulate.ts")).simulate,
  },
  keys: {
    summary: "keys VERB: create, list and revoke API keys",
    load: async () => (await import("./credentials/operate-credentials.ts")).operateKeys,
  },
  devices: {
    summary: "devices VERB: create, list and revoke scanning devices",
    load: async () => (await import("./credentials/operate-credentials.ts")).operateDevices,
  },
  link: {
    summary: "link board: create a link with which a browser signs in to the board",
    load: async () => (await import("./credentials/link-board.ts")).operateLinks,
  },
};

export const examples = `In a clone, \`npm run tessera --\` stands for tessera. Examples:

  tessera serve all --demo
  tessera import records.ndjson
  tessera keys create --organizer demo --name shop --permissions event.orders:read --all-events
  tessera status`;
