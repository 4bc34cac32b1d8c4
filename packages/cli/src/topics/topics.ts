import { Fault } from "@tessera/kit/fault";

const verbs: Readonly<Record<string, { summary: string; load(): Promise<(args: string[]) => Promise<void>> }>> = {
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

const usage = `tessera topics VERB [OPTIONS]

${Object.values(verbs)
  .map((verb) => `  ${verb.summary}`)
  .join("\n")}

tessera topics VERB --help tells more.
`;

/** Does what an operator does with topics and their facts. */
export async function operateTopics(args: string[]): Promise<void> {
  const [name = "", ...rest] = args;
  if (name === "" || name === "--help" || name === "help") {
    process.stdout.write(usage);
    return;
  }
  const verb = verbs[name];
  if (verb === undefined)
    throw new Fault("invalid", "unknown_verb", `there is no verb topics ${name}; \`tessera topics help\` lists them`);
  const run = await verb.load();
  await run(rest);
}
