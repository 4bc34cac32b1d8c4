import { isIPv6 } from "node:net";
import type { Fault } from "./fault.ts";
import { fault } from "./faults.ts";
import { Secret } from "./redacted.ts";

/** Variables by name, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One environment variable: how it is read, what it stands for when it is not set. */
export interface Setting<T> {
  /** The variable's name. */
  readonly name: string;
  /** One sentence on what it is for. */
  readonly description: string;
  /** What it takes, as it ends the sentence "NAME must be …". */
  readonly takes: string;
  /** What is printed as its value when it is not set; a required setting has none. */
  readonly fallback?: string;
  /** Reads a text that is not empty, or says that it is not what the setting takes. */
  read(text: string): { readonly value: T } | undefined;
  /** The value when the variable is not set; undefined when it has to be. */
  unset(): { readonly value: T } | undefined;
}

/** The settings of a program by the names it uses. */
export type Settings = Readonly<Record<string, Setting<unknown>>>;

/** The values that were read for settings. */
export type Config<S extends Settings> = { readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

/** Any text. */
export function text(name: string, fallback: string | undefined, description: string): Setting<string> {
  return setting({ name, description, takes: "a text", read: (given) => given, fallback });
}

/** A whole number within a range, its ends included. */
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

const truths: Readonly<Record<string, boolean>> = {
  true: true,
  false: false,
  "1": true,
  "0": false,
  yes: true,
  no: false,
  on: true,
  off: false,
};

/** Something that is on or off. */
export function flag(
  name: string,
  { fallback }: { fallback: boolean | undefined },
  description: string,
): Setting<boolean> {
  const read = (given: string) =>
    Object.hasOwn(truths, given.toLowerCase()) ? truths[given.toLowerCase()] : undefined;
  return setting({ name, description, takes: "true or false", read, fallback });
}

/** A password, key or URL with one in it. It has no default, and is printed nowhere. */
export function secret(name: string, description: string): Setting<Secret<string>> {
  return setting({ name, description, takes: "a secret", read: (given) => new Secret(given), fallback: undefined });
}

/** A secret that may be left out. */
export function optionalSecret(name: string, description: string): Setting<Secret<string> | undefined> {
  return optional(secret(name, description));
}

/** Where a peer listens: a host and a port. */
export function address(name: string, fallback: string | undefined, description: string): Setting<string> {
  const takes = "an address such as checkin:50051";
  return setting({ name, description, takes, read: (given) => (isAddress(given) ? given : undefined), fallback });
}

function isAddress(given: string): boolean {
  const [, host = "", port = ""] = /^(.+):([0-9]{1,5})$/.exec(given) ?? [];
  const number = Number(port);
  if (number < 1 || number > 65_535) return false;
  return host.startsWith("[") && host.endsWith("]")
    ? isIPv6(host.slice(1, -1))
    : /^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/i.test(host);
}

/** An absolute URL with a host. */
export function url(name: string, fallback: string | undefined, description: string): Setting<string> {
  const isUrl = (given: string) => /^[a-z][a-z0-9+.-]*:\/\/[^\s/]\S*$/i.test(given) && URL.canParse(given);
  const takes = "a URL such as http://collector:4318";
  return setting({ name, description, takes, read: (given) => (isUrl(given) ? given : undefined), fallback });
}

/** One of a closed list of words. */
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

/** A length of time with its unit, read as milliseconds; a number alone is milliseconds already. */
export function durationMs(name: string, fallback: number | undefined, description: string): Setting<number> {
  return setting({
    name,
    description,
    takes: "a duration such as 500ms, 30s, 5m, 2h or 1d",
    read(given) {
      const [, amount, unit = "ms"] = /^([0-9]+)(ms|s|m|h|d)?$/.exec(given) ?? [];
      const ms = Number(amount) * (unitMs[unit] ?? 1);
      return Number.isSafeInteger(ms) ? ms : undefined;
    },
    fallback,
    print: printDuration,
  });
}

function printDuration(ms: number): string {
  const [unit = "ms", length = 1] = Object.entries(unitMs).findLast(([, each]) => ms >= each && ms % each === 0) ?? [];
  return `${ms / length}${unit}`;
}

/** Makes a required setting one that may be left out, undefined then. */
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
  // A default that the setting would refuse is found when the program is loaded, not when somebody relies on it.
  if (fallback !== undefined && read(print(fallback)) !== fallback)
    throw new Error(`the default of ${name} must be ${takes}`);
  return {
    name,
    description,
    takes,
    ...(fallback === undefined ? {} : { fallback: print(fallback) }),
    read(given) {
      const value = read(given);
      return value === undefined ? undefined : { value };
    },
    unset: () => (fallback === undefined ? undefined : { value: fallback }),
  };
}

/** Variables with this prefix are ours: one that no setting reads is a mistake in somebody's values. */
const ourPrefix = "TESSERA_";

/** Kubernetes tells every pod of the services beside it, so one called tessera-checkin makes TESSERA_CHECKIN_PORT, which nobody wrote. */
function isServiceLink(name: string, value: string | undefined): boolean {
  return (
    /_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$|_PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name) ||
    (/_PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value ?? ""))
  );
}

/**
 * Reads all settings, or throws one Fault that names everything wrong. A variable that is
 * empty counts as not set. Values are never quoted: what is wrong may be a secret in the wrong
 * place. Given `allKnown`, the names read by anybody, any other TESSERA_ variable is a problem too.
 */
export function readConfig<S extends Settings>(
  settings: S,
  environment: Environment,
  { allKnown }: { allKnown?: readonly string[] } = {},
): Config<S> {
  const problems: [name: string, problem: string][] = [];
  const values: [key: string, value: unknown][] = [];
  for (const [key, each] of Object.entries(settings)) {
    const given = environment[each.name];
    const isSet = given !== undefined && given !== "";
    const result = isSet ? each.read(given) : each.unset();
    if (result !== undefined) values.push([key, result.value]);
    else problems.push([each.name, isSet ? `must be ${each.takes}` : "is required"]);
  }
  if (allKnown !== undefined) {
    const known = new Set([...allKnown, ...Object.values(settings).map((each) => each.name)]);
    const unknown = Object.entries(environment)
      .filter(([name, value]) => name.startsWith(ourPrefix) && value !== undefined && value !== "")
      .filter(([name, value]) => !known.has(name) && !isServiceLink(name, value))
      .map(([name]) => name);
    for (const name of unknown.sort()) problems.push([name, "is not a setting; correct its name or remove it"]);
  }
  if (problems.length > 0) throw toFault(problems);
  // Every key of the settings has its value here, of the type its setting reads.
  return Object.fromEntries(values) as Config<S>;
}

function toFault(problems: readonly (readonly [name: string, problem: string])[]): Fault {
  // Two settings may read one variable, and then find the same.
  const lines = [...new Set(problems.map(([name, problem]) => `  ${name} ${problem}`))];
  const byName = Map.groupBy(problems, ([name]) => name);
  const fields = Object.fromEntries(
    Array.from(byName, ([name, of]) => [name, [...new Set(of.map(([, problem]) => problem))]]),
  );
  return fault("configuration_invalid", `configuration:\n${lines.join("\n")}`, { fields });
}
