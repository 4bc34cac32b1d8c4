import { Fault } from "@tessera/kit/fault";

/** Verbs by name; each is loaded when it is asked for. */
export type Verbs = Readonly<
  Record<string, { readonly summary: string; load(): Promise<(args: string[]) => Promise<void>> }>
>;

/** Runs the verb that comes first, or lists all of them; `command` is what stands before it. */
export async function runVerb(command: string, verbs: Verbs, args: readonly string[]): Promise<void> {
  const [name = "", ...rest] = args;
  if (name === "" || name === "--help" || name === "-h" || name === "help") {
    const list = Object.values(verbs).map((verb) => `  ${verb.summary}`);
    process.stdout.write(`${command} VERB [OPTIONS]\n\n${list.join("\n")}\n\n${command} VERB --help tells more.\n`);
    return;
  }
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (verb === undefined)
    throw new Fault(
      "invalid",
      "unknown_verb",
      `there is no verb ${[...command.split(" ").slice(1), name].join(" ")}; \`${command} help\` lists them`,
    );
  const run = await verb.load();
  await run(rest);
}
