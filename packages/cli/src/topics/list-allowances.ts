import type { Allowance } from "@tessera/engines/kafka/acls";
import { catalogue, recordFeed } from "@tessera/protos/topics";
import { loadServices } from "../services.ts";

export interface Naming {
  /** The prefix of topics, groups and transactional ids. */
  readonly prefix: string;
  /** The account of a service, of `topics` or of `shop`. */
  principalOf(name: string): string;
}

/**
 * Lists the access rules of each account, derived from what services declare: read the topics that a service consumes,
 * in its own groups, and write those that it owns. Topic settings are readable: the doctor compares them. `topics` is
 * for `tessera topics apply`, and `shop` for shops that publish records.
 */
export async function listAllowances({ prefix, principalOf }: Naming): Promise<Allowance[]> {
  const services = await loadServices(["all"]);
  const named = (topics: readonly string[]) => topics.map((topic) => `${prefix}${topic}`);
  const all = { resource: "topic", pattern: "prefixed", names: [prefix] } as const;
  const ofServices = services.flatMap(({ name, consumes }) => {
    const owned = catalogue.flatMap((topic) => (topic.owner === name ? [topic.name] : []));
    const principal = principalOf(name);
    const given: Omit<Allowance, "principal">[] = [
      { ...all, operations: ["Describe", "DescribeConfigs"] },
      { resource: "topic", pattern: "literal", names: named(consumes), operations: ["Read"] },
      {
        resource: "group",
        pattern: "literal",
        names: named(consumes.map((topic) => `${name}.${topic}`)),
        operations: ["Read"],
      },
      { resource: "topic", pattern: "literal", names: named(owned), operations: ["Write"] },
      {
        resource: "transactional-id",
        pattern: "prefixed",
        names: named(owned.map((topic) => `relay/${topic}/`)),
        operations: ["Write"],
      },
    ];
    return given.filter(({ names }) => names.length > 0).map((each) => ({ principal, ...each }));
  });
  return [
    ...ofServices,
    {
      ...{ principal: principalOf("topics"), ...all },
      operations: ["Create", "Alter", "AlterConfigs", "Describe", "DescribeConfigs"],
    },
    {
      ...{ principal: principalOf("shop"), resource: "topic", pattern: "literal" },
      ...{ names: named([recordFeed.name]), operations: ["Write", "Describe"] },
    },
  ];
}

/** Writes them as commands of Kafka's own tool, which get the arguments of the script. */
export function toScript(allowances: readonly Allowance[]): string {
  const lines = allowances.map(({ principal, resource, pattern, names, operations }) => {
    const given = [
      ["--allow-principal", principal],
      ...operations.map((operation) => ["--operation", operation]),
      ["--resource-pattern-type", pattern],
      ...names.map((name) => [`--${resource}`, name]),
    ];
    return `kafka-acls.sh "$@" --add ${given.map(([option, value]) => `${option} ${quote(value ?? "")}`).join(" ")}\n`;
  });
  return `#!/bin/sh\n# sh FILE --bootstrap-server HOST:PORT --command-config FILE\nset -e\n${lines.join("")}`;
}

function quote(text: string): string {
  return /^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
