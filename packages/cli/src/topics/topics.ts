import { runVerb, type Verbs } from "../command/run-verb.ts";

const verbs: Verbs = {
  diff: {
    summary: "topics diff: print how the topics of the brokers differ from the catalogue",
    load: async () => (await import("./compare.ts")).printDifferences,
  },
  apply: {
    summary: "topics apply: create missing topics, and alter settings",
    load: async () => (await import("./compare.ts")).applyDifferences,
  },
  acls: {
    summary: "topics acls: print what each service may do with the brokers, or allow it",
    load: async () => (await import("./acls.ts")).printAcls,
  },
  parked: {
    summary: "topics parked: list the facts that services could not apply",
    load: async () => (await import("./parked.ts")).listParked,
  },
  replay: {
    summary: "topics replay: have services apply parked facts again",
    load: async () => (await import("./replay.ts")).replayFacts,
  },
  discard: {
    summary: "topics discard: delete parked facts that must not be applied",
    load: async () => (await import("./discard.ts")).discardParked,
  },
  rebuild: {
    summary: "topics rebuild TOPIC… | --all: have owners republish their current state",
    load: async () => (await import("./rebuild.ts")).rebuildFacts,
  },
};

/** The verbs for topics and their facts. */
export async function operateTopics(args: string[]): Promise<void> {
  await runVerb("tessera topics", verbs, args);
}
