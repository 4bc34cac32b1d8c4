import { type ParseArgsConfig, parseArgs } from "node:util";
import type { Environment } from "@tessera/kit/config";
import { fault } from "./faults.ts";

interface Option {
  readonly type: "string" | "boolean";
  readonly default?: string | boolean;
  /** May be given more than once. */
  readonly multiple?: true;
  /** How the value is called in the help text. */
  readonly value?: string;
  readonly help: string;
}

export type Options = Readonly<Record<string, Option>>;

/** What is read for options: a flag is true or false, a text without default may be missing, or given more than once. */
export type OptionValues<O extends Options> = {
  readonly [K in keyof O]: O[K]["type"] extends "boolean"
    ? boolean
    : O[K] extends { default: string }
      ? string
      : O[K] extends { multiple: true }
        ? readonly string[] | undefined
        : string | undefined;
};

/** Reads a verb's options and names; prints the help instead, and returns undefined, when it is asked for. */
export function readOptions<const O extends Options>(
  usage: string,
  options: O,
  args: string[],
): { values: OptionValues<O>; names: string[] } | undefined {
  const config: ParseArgsConfig["options"] = { help: { type: "boolean", short: "h" } };
  for (const [name, option] of Object.entries(options)) {
    config[name] = {
      type: option.type,
      ...(option.default === undefined ? {} : { default: option.default }),
      ...(option.multiple === undefined ? {} : { multiple: option.multiple }),
    };
  }
  try {
    const { values, positionals } = parseArgs({ args, options: config, allowPositionals: true, allowNegative: true });
    if (values["help"] === true) {
      process.stdout.write(helpText(usage, options));
      return undefined;
    }
    return { values: values as OptionValues<O>, names: positionals };
  } catch (error) {
    const message = error instanceof Error ? error.message.split(".")[0] : String(error);
    const [command = "tessera"] = /^(?:tessera|npm run) \S+(?: --)?/.exec(usage) ?? [];
    throw fault("bad_options", `${message}; \`${command} --help\` lists the options`);
  }
}

function helpText(usage: string, options: Options): string {
  const rows = Object.entries(options).map(
    ([name, option]) =>
      [`--${name}${option.type === "string" ? ` ${option.value ?? "VALUE"}` : ""}`, option.help] as const,
  );
  const width = Math.max(...rows.map(([left]) => left.length));
  return `${usage}\n\n${rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n")}\n`;
}

/** The database's URL from the environment; a variable that is empty counts as not set. */
export function databaseUrlOf(environment: Environment): string | undefined {
  return environment["DATABASE_URL"] || undefined;
}

/** Reads a port by the name of the option or variable that it was given as. */
export function readPort(name: string, text: string, { lowest = 1 }: { lowest?: 0 | 1 } = {}): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < lowest || port > 65_535)
    throw fault("bad_port", `${name} takes a whole number from ${lowest} to 65535`);
  return port;
}
