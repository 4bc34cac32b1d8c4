import { catalogue } from "@tessera/protos/topics";
import { expect, it } from "vitest";
import { loadServices } from "../services.ts";
import { listAllowances, toScript } from "./list-allowances.ts";

const principalOf = (name: string) => `User:${name}`;

it("[S11.12] every topic may be written by its owner alone, and read by those that consume it", async () => {
  const allowances = await listAllowances({ prefix: "t.", principalOf });
  const services = await loadServices(["all"]);
  const mayBe = (topic: string, operation: "Read" | "Write") =>
    allowances.flatMap(({ principal, resource, pattern, names, operations }) => {
      const isMeant = names.some((name) =>
        pattern === "literal" ? name === `t.${topic}` : `t.${topic}`.startsWith(name),
      );
      return resource === "topic" && isMeant && operations.includes(operation) ? [principal] : [];
    });
  for (const { name, owner } of catalogue) {
    expect(mayBe(name, "Write"), name).toEqual([owner === "outside" ? "User:shop" : `User:${owner}`]);
    const consumers = services.filter(({ consumes }) => consumes.includes(name));
    expect(mayBe(name, "Read"), name).toEqual(consumers.map((service) => `User:${service.name}`));
  }
});

it("[S11.12] the list is a script of the brokers' own tool, whatever accounts are called", () => {
  const rule = { resource: "transactional-id", pattern: "prefixed", names: ["t.relay/a/", "t.b c"] } as const;
  expect(toScript([{ principal: "User:CN=it's me", ...rule, operations: ["Write", "Describe"] }])).toBe(
    [
      "#!/bin/sh",
      "# sh FILE --bootstrap-server HOST:PORT --command-config FILE",
      "set -e",
      `kafka-acls.sh "$@" --add --allow-principal 'User:CN=it'\\''s me' --operation Write --operation Describe --resource-pattern-type prefixed --transactional-id t.relay/a/ --transactional-id 't.b c'`,
      "",
    ].join("\n"),
  );
});
