import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { engineSettings, processSettings } from "@tessera/cli/configuration/engine-settings";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { readDeclaredServices } from "./declared-services.ts";
import { describeValues } from "./describe-values.ts";

const chart = fileURLToPath(new URL("../../charts/tessera/", import.meta.url));
const read = (name: string) => readFileSync(join(chart, name), "utf8");

interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly additionalProperties?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}
const schema = JSON.parse(read("values.schema.json")) as Schema;

it("the chart has the call graph and the settings of the code; `npm run chart` writes them", async () => {
  const declared = `${JSON.stringify(await readDeclaredServices(), null, 2)}\n`;
  await expect(declared).toMatchFileSnapshot(join(chart, "files/services.json"));
});

it("the README has a table of all values, from their comments", async () => {
  const [head, tail] = read("README.md").split(/(?<=<!-- values -->\n)[\s\S]*(?=<!-- end of values -->)/);
  const readme = `${head}\n${describeValues(read("values.yaml"))}\n${tail}`;
  await expect(readme).toMatchFileSnapshot(join(chart, "README.md"));
});

/** Lists what a schema leaves open, by path. */
function findOpen(node: Schema, path = ""): string[] {
  const here =
    node.type === "object" && node.properties !== undefined && node.additionalProperties !== false ? [path] : [];
  const typed = "type" in node || "$ref" in node || "enum" in node ? [] : [`${path} has no type`];
  const below = Object.entries(node.properties ?? {}).flatMap(([key, value]) => findOpen(value, `${path}.${key}`));
  return [...here, ...typed, ...below, ...(node.items === undefined ? [] : findOpen(node.items, `${path}[]`))];
}

it("the schema takes no key that it does not name, and types each", () => {
  expect(findOpen(schema)).toEqual([]);
});

/** What a parent chart passes, which this one does not read. */
const ofParents: ReadonlySet<string> = new Set(["global", "enabled"]);

it("every value has a place in the schema, and the other way round", () => {
  const values = parse(read("values.yaml")) as Record<string, unknown>;
  const named = (node: Schema): string[] => Object.keys(node.properties ?? {}).sort();
  expect(named(schema).filter((key) => !ofParents.has(key))).toEqual(Object.keys(values).sort());
  for (const key of [
    "image",
    "oidc",
    "postgres",
    "kafka",
    "redis",
    "objectStore",
    "grpc",
    "defaults",
    "onePod",
    "migrations",
    "topics",
  ]) {
    expect(named(schema.properties?.[key] ?? {}), key).toEqual(Object.keys(values[key] as object).sort());
  }
});

it("a service takes every key of the defaults, and its settings are those that the code reads", async () => {
  const { services } = await readDeclaredServices();
  const ofChart = [
    ...["BASE_URL", "CHROMIUM_PATH", "HTTP_HOST", "HTTP_PORT", "OPERATOR_KEY"],
    ...["OIDC_CLAIM", "OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET", "OIDC_ISSUER"],
  ];
  // The demo is for a local start.
  const ofDemo = ["DEMO_API_KEY", "DEMO_DEVICE_KEY"];
  const ofAll = ["GRPC_MAX_AGE", "PARKED_FACTS_KEPT"];
  const processNames = Object.values({ ...processSettings, ...engineSettings }).map(({ name }) => name);
  expect(ofAll.filter((name) => !processNames.includes(name as never))).toEqual([]);
  const defaults = Object.keys(schema.properties?.["defaults"]?.properties ?? {});
  const described = schema.properties?.["services"]?.properties ?? {};
  expect(Object.keys(described).sort()).toEqual(Object.keys(services).sort());
  for (const [name, { settings }] of Object.entries(services)) {
    const properties = described[name]?.properties ?? {};
    expect(
      defaults.filter((key) => !(key in properties)),
      name,
    ).toEqual([]);
    const own = settings.filter((setting) => ![...ofChart, ...ofDemo].includes(setting));
    expect(Object.keys(properties["settings"]?.properties ?? {}), name).toEqual([...own, ...ofAll].sort());
  }
});
