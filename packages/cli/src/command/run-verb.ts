import { fault } from "../faults.ts";
import { nameRelease } from "../version.ts";
import { columns } from "./columns.ts";
import { describeFailure } from "./explain-failure.ts";

/** Verbs by name, loaded on use. */
export type Verbs = Readonly<
  Record<string, { readonly summary: string; load(): Promise<(args: string[]) => Promise<void>> }>
>;

/** Runs the verb that is the first argument, or lists all verbs; `command` is the text before the verb. */
export async function runVerb(
  command: string,
  verbs: Verbs,
  args: readonly string[],
  { examples = "" }: { readonly examples?: string } = {},
): Promise<void> {
  const [name = "", ...rest] = args;
  if (name === "help" && rest.length > 0) return runVerb(command, verbs, [...rest, "--help"]);
  if (name === "" || name === "--help" || name === "-h" || name === "help") {
    const rows = Object.values(verbs).map(({ summary }) => /^(.*?): (.*)$/.exec(summary)?.slice(1) ?? [summary]);
    const list = `${command} VERB [OPTIONS]\n\n${columns(rows)}\n\n${command} VERB --help explains one.\n`;
    process.stdout.write(examples === "" ? list : `${list}\n${examples}\n`);
    return;
  }
  if (name === "--version")
    return void process.stdout.write(`tessera ${nameRelease()}, Node ${process.versions.node}\n`);
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (verb === undefined)
    throw fault(
      "unknown_verb",
      `there is no verb ${[...command.split(" ").slice(1), name].join(" ")}; \`${command} help\` lists them`,
    );
  const run = await verb.load();
  await run(rest);
}

/** After the work, a hanging connection would keep the process alive. */
const lingerMs = 200;

/** The main function of a program: runs the verb of its command line, reports an error in one line, and ends. */
export async function runCommand(
  command: string,
  verbs: Verbs,
  { examples = "" }: { readonly examples?: string } = {},
): Promise<void> {
  try {
    await runVerb(command, verbs, process.argv.slice(2), { examples });
  } catch (error) {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`${command}: ${describeFailure(error) ?? stack}\n`);
    process.exitCode = 1;
  }
  // After all output is written: the reader of a pipe may be slow.
  const end = () => void setTimeout(() => process.exit(), lingerMs).unref();
  process.stdout.write("", () => process.stderr.write("", end));
}
