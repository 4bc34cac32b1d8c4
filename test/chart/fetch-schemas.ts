// Writes charts/schemas from the published modules of Kubernetes and of the operators whose objects the chart makes. It needs Go.
//   npm run chart:schemas
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";
import { customResources, folderOf } from "./published-modules.ts";

/** A version of each minor version that the chart is for. */
const kubernetes = ["v1.34.4", "v1.35.4", "v1.36.3"];
const definitions: Readonly<Record<string, string>> = {
  Deployment: "io.k8s.api.apps.v1",
  Job: "io.k8s.api.batch.v1",
  PersistentVolumeClaim: "io.k8s.api.core.v1",
  Service: "io.k8s.api.core.v1",
  ServiceAccount: "io.k8s.api.core.v1",
  Pod: "io.k8s.api.core.v1",
  ConfigMap: "io.k8s.api.core.v1",
  Secret: "io.k8s.api.core.v1",
  HorizontalPodAutoscaler: "io.k8s.api.autoscaling.v2",
  PodDisruptionBudget: "io.k8s.api.policy.v1",
  NetworkPolicy: "io.k8s.api.networking.v1",
  Ingress: "io.k8s.api.networking.v1",
};
type Node = Readonly<Record<string, unknown>>;
const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && !Array.isArray(value);
const mapValues = (node: Node, change: (value: unknown) => unknown) =>
  Object.fromEntries(Object.entries(node).map(([key, value]) => [key, change(value)]));

/** Keeps what decides whether an object is accepted. Objects take only fields that they name, as `kubectl apply` warns. */
function strict(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(strict);
  if (!isNode(schema)) return schema;
  if (schema["format"] === "int-or-string" || schema["x-kubernetes-int-or-string"] === true)
    return { type: ["string", "integer"] };
  const all = schema["allOf"];
  if (Array.isArray(all) && all.length === 1 && isNode(all[0]) && "$ref" in all[0]) return strict(all[0]);
  const kept = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (["description", "default", "format", "example"].includes(key) || key.startsWith("x-kubernetes")) return [];
    // Flags inside an expression are of Go alone.
    if (key === "pattern" && String(value).includes("(?")) return [];
    if (key === "$ref") return [[key, `#/$defs/${nameIn(value)}`]];
    return [[key, key === "properties" && isNode(value) ? mapValues(value, strict) : strict(value)]];
  });
  const isOpen = "additionalProperties" in schema || schema["x-kubernetes-preserve-unknown-fields"] === true;
  const closed = "properties" in schema && !isOpen ? { additionalProperties: false } : {};
  return { ...Object.fromEntries(kept), ...closed };
}

const nameIn = (reference: unknown) => String(reference).split("/").at(-1) ?? "";

/** Scalars that Kubernetes writes as text or as number. */
const scalars: Readonly<Record<string, Node>> = {
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": { type: ["string", "integer"] },
  "io.k8s.apimachinery.pkg.api.resource.Quantity": { type: ["string", "number"] },
  "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": { type: "object" },
};

function withoutStatus(schema: unknown): Node {
  if (!isNode(schema) || !isNode(schema["properties"])) throw new Error("an object has no properties");
  const { status: _, ...properties } = schema["properties"];
  return { ...schema, properties };
}

function referencesIn(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(referencesIn);
  if (!isNode(schema)) return [];
  return Object.entries(schema).flatMap(([key, value]) =>
    key === "$ref" && typeof value === "string" ? [nameIn(value)] : referencesIn(value),
  );
}

function write(name: string, { from, kinds, $defs }: { from: string; kinds: Node; $defs: Node }): void {
  const file = fileURLToPath(new URL(`../../charts/schemas/${name}.json`, import.meta.url));
  writeFileSync(file, `${JSON.stringify({ $comment: `From ${from}`, kinds, $defs })}\n`);
}

for (const version of kubernetes) {
  const files = globSync(join(folderOf(`k8s.io/kubernetes@${version}`), "api/openapi-spec/v3/*_openapi.json"));
  const published: Record<string, unknown> = {};
  for (const file of files.sort()) {
    const { components } = JSON.parse(readFileSync(file, "utf8")) as { components?: { schemas?: Node } };
    Object.assign(published, components?.schemas);
  }
  const kinds = Object.fromEntries(Object.entries(definitions).map(([kind, group]) => [kind, `${group}.${kind}`]));
  const $defs: Record<string, unknown> = {};
  const add = (name: string) => {
    if (name in $defs) return;
    const schema = scalars[name] ?? strict(published[name]);
    $defs[name] = Object.values(kinds).includes(name) ? withoutStatus(schema) : schema;
    for (const referred of referencesIn($defs[name])) add(referred);
  };
  for (const name of Object.values(kinds)) add(name);
  write(`kubernetes-${version.slice(1, 5)}`, { from: `k8s.io/kubernetes ${version}`, kinds, $defs });
}

interface CustomResource {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Node } }[];
  };
}

const made = customResources.map(([module, path, version]) => {
  const text = readFileSync(join(folderOf(module), path), "utf8");
  const [resource] = parseAllDocuments(text).flatMap((document) => (document.toJS() as CustomResource | null) ?? []);
  const schema = resource?.spec.versions.find(({ name }) => name === version)?.schema.openAPIV3Schema;
  if (resource === undefined || schema === undefined) throw new Error(`${module} has no ${version} in ${path}`);
  const { group, names } = resource.spec;
  const definition = withoutStatus(strict(schema));
  const properties = { ...(definition["properties"] as Node), metadata: { type: "object" } };
  return { kind: names.kind, name: `${group}.${version}.${names.kind}`, definition: { ...definition, properties } };
});
write("custom-resources", {
  from: [...new Set(customResources.map(([module]) => module))].join(", "),
  kinds: Object.fromEntries(made.map(({ kind, name }) => [kind, name])),
  $defs: Object.fromEntries(made.map(({ name, definition }) => [name, definition])),
});
