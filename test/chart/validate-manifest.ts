import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { Manifest } from "./render-chart.ts";

/** The minor versions of Kubernetes that the chart is for. */
export const minors = ["1.34", "1.35", "1.36"] as const;

interface Schemas {
  readonly kinds: Readonly<Record<string, string>>;
  readonly $defs: Readonly<Record<string, unknown>>;
}

function readSchemas(name: string): Schemas {
  return JSON.parse(readFileSync(new URL(`../../charts/schemas/${name}.json`, import.meta.url), "utf8")) as Schemas;
}

/** Returns a function that lists what is wrong with a manifest for a minor version, as the API server would find it. */
export function validatorFor(minor: (typeof minors)[number]): (manifest: Manifest) => readonly string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true, logger: false });
  const checks = new Map<string, ValidateFunction>();
  for (const name of [`kubernetes-${minor}`, "custom-resources"]) {
    const { kinds, $defs } = readSchemas(name);
    ajv.addSchema({ $id: name, $defs });
    for (const [kind, definition] of Object.entries(kinds))
      checks.set(kind, ajv.compile({ $ref: `${name}#/$defs/${definition}` }));
  }
  return (manifest) => {
    const check = checks.get(manifest.kind);
    if (check === undefined) return [`there is no schema of ${manifest.kind}`];
    const { kind, metadata } = manifest;
    if (check(manifest) === true) return [];
    return (check.errors ?? []).map(
      ({ instancePath, message, params }) =>
        `${kind} ${metadata.name} ${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  };
}
