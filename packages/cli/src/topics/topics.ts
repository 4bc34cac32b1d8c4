import { runVerb, type Verbs } from "../run-verb.ts";

const verbs: Verbs = {
  diff: {
    summary: "topics diff: say how the brokers' topics differ from the catalogue",
    load: async () => (await import("./compare.ts")).printDifferences,
  },
  apply: {
    summary: "topics apply: create what is missing there, and alter settings",
    load: async () => (await import("./compare.ts")).applyDifferences,
  },
  parked: {
    summary: "topics parked: list the facts that services could not act on",
    load: async () => (await import("./parked.ts")).listParked,
  },
  replay: {
    summary: "topics replay: have services act on parked facts again",
    load: async () => (await import("./replay.ts")).replayFacts,
  },
  rebuild: {
    summary: "topics rebuild TOPIC… | --all: have owners publish again what they hold",
    load: async () => (await import("./rebuild.ts")).rebuildFacts,
  },
};

/** Does what an operator does with topics and their facts. */
export async function operateTopics(args: string[]): Promise<void> {
  await runVerb("tessera topics", verbs, args);
}
