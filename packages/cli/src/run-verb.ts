import { Fault } from "@tessera/kit/fault";
import { fault } from "./faults.ts";

/** Verbs by name, loaded on use. */
export type Verbs = Readonly<
  Record<string, { readonly summary: string; load(): Promise<(args: string[]) => Promise<void>> }>
>;

/** Runs the verb that is the first argument, or lists all verbs; `command` is the text before the verb. */
export async function runVerb(command: string, verbs: Verbs, args: readonly string[]): Promise<void> {
  const [name = "", ...rest] = args;
  if (name === "" || name === "--help" || name === "-h" || name === "help") {
    const list = Object.values(verbs).map((verb) => `  ${verb.summary}`);
    process.stdout.write(`${command} VERB [OPTIONS]\n\n${list.join("\n")}\n\n${command} VERB --help explains one.\n`);
    return;
  }
  const verb = Object.hasOwn(verbs, name) ? verbs[name] : undefined;
  if (verb === undefined)
    throw fault(
      "unknown_verb",
      `there is no verb ${[...command.split(" ").slice(1), name].join(" ")}; \`${command} help\` lists them`,
    );
  const run = await verb.load();
  await run(rest);
}

/** After the work, a hanging connection, or one that a driver lost track of, would keep the process alive. */
const lingerMs = 200;

/** The main function of a program: runs the verb of its command line, reports an error in one line, and ends. */
export async function runCommand(command: string, verbs: Verbs): Promise<void> {
  try {
    await runVerb(command, verbs, process.argv.slice(2));
  } catch (error) {
    process.stderr.write(
      error instanceof Fault
        ? `${command}: ${error.message}${reasonOf(error)}\n`
        : `${command}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exitCode = 1;
  }
  // After all output is written: the reader of a pipe may be slow.
  const end = () => void setTimeout(() => process.exit(), lingerMs).unref();
  process.stdout.write("", () => process.stderr.write("", end));
}

/** The code of the system for a failed connection: it distinguishes a wrong name from a closed port. */
function reasonOf({ kind, cause }: Fault): string {
  const isNamed = kind === "unavailable" && cause instanceof Error && "code" in cause;
  return isNamed && typeof cause.code === "string" ? ` (${cause.code})` : "";
}
