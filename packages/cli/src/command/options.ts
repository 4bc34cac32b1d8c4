import { type ParseArgsConfig, parseArgs } from "node:util";
import type { Environment } from "@tessera/kit/config/config";
import { fault } from "../faults.ts";

interface Option {
  readonly type: "string" | "boolean";
  readonly default?: string | boolean;
  /** May be given more than once. */
  readonly multiple?: true;
  /** The name of the value in the help text. */
  readonly value?: string;
  readonly help: string;
}

export type Options = Readonly<Record<string, Option>>;

/** The values of options: a flag is true or false; a text without default may be missing, or be a list. */
export type OptionValues<O extends Options> = {
  readonly [K in keyof O]: O[K]["type"] extends "boolean"
    ? boolean
    : O[K] extends { default: string }
      ? string
      : O[K] extends { multiple: true }
        ? readonly string[] | undefined
        : string | undefined;
};

/** Reads the options and names of a verb. With --help it prints the help and returns undefined. */
export function readOptions<const O extends Options>(
  usage: string,
  options: O,
  args: string[],
): { values: OptionValues<O>; names: string[] } | undefined {
  const known: ParseArgsConfig["options"] = { ...options, help: { type: "boolean", short: "h" } };
  try {
    const { values, positionals } = parseArgs({ args, options: known, allowPositionals: true, allowNegative: true });
    if (values["help"] === true) {
      process.stdout.write(helpText(usage, options));
      return undefined;
    }
    // From an unset shell variable: an empty folder name would mean the working directory.
    const empty = Object.keys(values).find((name) => [values[name]].flat().includes(""));
    if (empty !== undefined) throw new Error(`Option '--${empty}' has an empty value`);
    return { values: values as OptionValues<O>, names: positionals };
  } catch (error) {
    const message = error instanceof Error ? error.message.split(".")[0] : String(error);
    const [command = "tessera"] = /^(?:tessera|npm run)(?: [a-z]\S*)+(?: --(?= ))?/.exec(usage) ?? [];
    throw fault("bad_options", `${message}; \`${command} --help\` lists the options`);
  }
}

function helpText(usage: string, options: Options): string {
  const rows = Object.entries(options).map(
    ([name, option]) =>
      [`--${name}${option.type === "string" ? ` ${option.value ?? "VALUE"}` : ""}`, option.help] as const,
  );
  const width = Math.max(...rows.map(([left]) => left.length));
  return `${usage}\n\n${rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n")}`
    .trimEnd()
    .concat("\n");
}

/** Refuses names where only options count: a forgotten option would change what the verb does. */
export function refuseNames(names: readonly string[]): void {
  if (names.length > 0)
    throw fault("unexpected_name", `${names.join(" ")} is not expected here; options begin with --`);
}

/** Returns the value of an option that has to be given. */
export function requireOption(name: string, value: string | undefined): string {
  if (value === undefined || value.trim() === "") throw fault("missing_option", `--${name} is required`);
  return value;
}

/** The URL of the database from the environment; an empty variable counts as not set. */
export function databaseUrlOf(environment: Environment): string | undefined {
  return environment["DATABASE_URL"] || undefined;
}

/** Whether this is an address of PostgreSQL. One with its socket folder in `host=` has no host. */
export function isDatabaseUrl(text: string): boolean {
  return /^postgres(?:ql)?:\/\/./.test(text) && URL.canParse(text.replace("@/", "@localhost/"));
}

/** What to do about an address of a database that cannot be read. */
export const databaseUrlAdvice =
  "write it as postgresql://user:password@host:5432/database, and in a password %23 for #, %2F for /, %3F for ?, %40 for @ and %25 for %";

/** The URL of the option, else of the environment; refuses one that cannot be read. */
export function readDatabaseUrl(option: string | undefined, environment: Environment): string | undefined {
  const url = option ?? databaseUrlOf(environment);
  if (url !== undefined && !isDatabaseUrl(url))
    throw fault(
      "bad_url",
      `${option === undefined ? "DATABASE_URL" : "--database-url"} is no address of PostgreSQL; ${databaseUrlAdvice}`,
    );
  return url;
}

/** Reads a port; `name` is its option or variable, for the message. */
export function readPort(name: string, text: string, { lowest = 1 }: { lowest?: 0 | 1 } = {}): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < lowest || port > 65_535)
    throw fault("bad_port", `${name} takes a whole number from ${lowest} to 65535`);
  return port;
}
