import type { Fault } from "../fault.ts";
import { fault } from "../faults.ts";
import { Secret } from "./redacted.ts";

/** Variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One environment variable: how it is read, and its value when it is not set. */
export interface Setting<T> {
  readonly name: string;
  readonly description: string;
  /** The values that it takes, as the end of the sentence "NAME must be …". */
  readonly takes: string;
  /** Its default as text; a required setting has none. */
  readonly fallback?: string;
  /** Reads a text that is not empty; undefined: the setting does not take it. */
  read(text: string): { readonly value: T } | undefined;
  /** The value when the variable is not set; undefined: it must be set. */
  unset(): { readonly value: T } | undefined;
}

/** The settings of a program by the names it uses. */
export type Settings = Readonly<Record<string, Setting<unknown>>>;

export type Config<S extends Settings> = { readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

export function text(name: string, fallback: string | undefined, description: string): Setting<string> {
  return setting({ name, description, takes: "a text", read: (given) => given, fallback });
}

/** A whole number within a range, both ends included. */
export function int(
  name: string,
  fallback: number | undefined,
  [lowest, highest]: readonly [lowest: number, highest: number],
  description: string,
): Setting<number> {
  return setting({
    name,
    description,
    takes: `a whole number from ${lowest} to ${highest}`,
    read(given) {
      const number = /^-?[0-9]+$/.test(given) ? Number(given) : Number.NaN;
      return number >= lowest && number <= highest ? number : undefined;
    },
    fallback,
  });
}

/** A password, a key, or a URL that contains one. It has no default and is never printed. */
export function secret(name: string, description: string): Setting<Secret<string>> {
  return setting({ name, description, takes: "a secret", read: (given) => new Secret(given), fallback: undefined });
}

/** A secret that others could guess if it were short. It is sent in headers, so it has no blanks and no letters outside ASCII. */
export function strongSecret(name: string, leastLength: number, description: string): Setting<Secret<string>> {
  const takes = `a secret of at least ${leastLength} ASCII characters without blanks, as \`openssl rand -hex 32\` prints`;
  const isStrong = (given: string) => given.length >= leastLength && /^[!-~]+$/.test(given);
  const read = (given: string) => (isStrong(given) ? new Secret(given) : undefined);
  return setting({ name, description, takes, read, fallback: undefined });
}

/** An absolute URL with a host; `example` is one that would do. */
export function url(
  name: string,
  fallback: string | undefined,
  description: string,
  { example = "http://collector:4318" }: { readonly example?: string } = {},
): Setting<string> {
  const isUrl = (given: string) => /^[a-z][a-z0-9+.-]*:\/\/[^\s/]\S*$/i.test(given) && URL.canParse(given);
  const takes = `a URL such as ${example}`;
  return setting({ name, description, takes, read: (given) => (isUrl(given) ? given : undefined), fallback });
}

export function choice<const W extends string>(
  name: string,
  words: readonly W[],
  fallback: NoInfer<W> | undefined,
  description: string,
): Setting<W> {
  return setting({
    name,
    description,
    takes: words.length > 1 ? `${words.slice(0, -1).join(", ")} or ${words.at(-1)}` : `${words[0]}`,
    read: (given) => words.find((word) => word === given),
    fallback,
  });
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A length of time with its unit, read as milliseconds. A number without a unit is milliseconds. A shorter one than `leastMs` is a mistake. */
export function durationMs(
  name: string,
  fallback: number | undefined,
  description: string,
  { leastMs = 0 }: { readonly leastMs?: number } = {},
): Setting<number> {
  return setting({
    name,
    description,
    takes:
      leastMs === 0
        ? "a duration such as 500ms, 30s, 5m, 2h or 1d"
        : `a duration of at least ${printDuration(leastMs)}, such as 12h or 30d`,
    read(given) {
      const [, amount, unit = "ms"] = /^([0-9]+)(ms|s|m|h|d)?$/.exec(given) ?? [];
      const ms = Number(amount) * (unitMs[unit] ?? 1);
      return Number.isSafeInteger(ms) && ms >= leastMs ? ms : undefined;
    },
    fallback,
    print: printDuration,
  });
}

function printDuration(ms: number): string {
  const [unit = "ms", length = 1] = Object.entries(unitMs).findLast(([, each]) => ms >= each && ms % each === 0) ?? [];
  return `${ms / length}${unit}`;
}

/** Makes a required setting optional: undefined when it is not set. */
export function optional<T>(required: Setting<T>): Setting<T | undefined> {
  return { ...required, fallback: "none", unset: () => ({ value: undefined }) };
}

function setting<T extends {}>({
  name,
  description,
  takes,
  read,
  fallback,
  print = String,
}: {
  name: string;
  description: string;
  takes: string;
  read: (given: string) => T | undefined;
  fallback: T | undefined;
  print?: (value: T) => string;
}): Setting<T> {
  // A wrong default fails when the program is loaded, not when it is used.
  if (fallback !== undefined && read(print(fallback)) !== fallback)
    throw new Error(`the default of ${name} must be ${takes}`);
  return {
    name,
    description,
    takes,
    ...(fallback === undefined ? {} : { fallback: print(fallback) }),
    read: (given) => found(read(given)),
    unset: () => found(fallback),
  };
}

function found<T extends {}>(value: T | undefined): { readonly value: T } | undefined {
  return value === undefined ? undefined : { value };
}

/**
 * Reads all settings, or throws one Fault that names all problems. An empty variable counts as not set. The Fault quotes
 * no value: a wrong one may be a secret in the wrong variable.
 */
export function readConfig<S extends Settings>(settings: S, environment: Environment): Config<S> {
  const problems: [name: string, problem: string][] = [];
  const values: [key: string, value: unknown][] = [];
  for (const [key, each] of Object.entries(settings)) {
    const given = environment[each.name];
    const isSet = given !== undefined && given !== "";
    const result = isSet ? each.read(given) : each.unset();
    if (result !== undefined) values.push([key, result.value]);
    else problems.push([each.name, isSet ? `must be ${each.takes}` : "is required"]);
  }
  if (problems.length > 0) throw toFault(problems);
  // Here every key has a value of the type that its setting reads.
  return Object.fromEntries(values) as Config<S>;
}

function toFault(problems: readonly (readonly [name: string, problem: string])[]): Fault {
  // Two settings may read the same variable and have the same problem.
  const distinct = new Map(problems.map((each) => [each.join(" "), each]));
  const byName = Map.groupBy(distinct.values(), ([name]) => name);
  const fields = Object.fromEntries(Array.from(byName, ([name, of]) => [name, of.map(([, problem]) => problem)]));
  return fault("configuration_invalid", `configuration:\n  ${[...distinct.keys()].join("\n  ")}`, { fields });
}
