import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { helm } from "@tessera/testkit/engines/helm";
import { parseAllDocuments } from "yaml";

export const chart = fileURLToPath(new URL("../../charts/tessera/", import.meta.url));

/** The sets of values that are tried whole. */
export const valueSets = ["minimal", "full", "gitops", "development"] as const;
export type ValueSet = (typeof valueSets)[number] | "one-pod";

export function valuesFile(set: ValueSet): string {
  return join(chart, "ci", `${set}-values.yaml`);
}

/** A rendered object, as far as tests read it. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: each kind has another shape, and its schema is checked
  readonly spec: any;
}

/** Runs Helm, and returns what it printed. A failure has its sentence as message. */
export async function runHelm(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(await helm.install(), args, {
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, HELM_CACHE_HOME: tmpdir(), HELM_CONFIG_HOME: tmpdir(), HELM_DATA_HOME: tmpdir() },
  });
  return stdout;
}

/** Renders a release with a set of values, and others over it. */
export async function renderText(
  set: ValueSet,
  { values = {}, kubernetes = "1.36.0" }: { readonly values?: object; readonly kubernetes?: string } = {},
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tessera-chart-"));
  try {
    const file = join(folder, "values.json");
    await writeFile(file, JSON.stringify(values));
    const over = ["--values", valuesFile(set), "--values", file];
    return await runHelm(
      ...["template", "tessera", chart, "--namespace", "tickets", "--kube-version", kubernetes, ...over],
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** What was rendered is rendered once for all tests of a process; they change nothing of it. */
const rendered = new Map<string, Promise<readonly Manifest[]>>();

export function renderChart(...how: Parameters<typeof renderText>): Promise<readonly Manifest[]> {
  const key = JSON.stringify(how);
  const found = rendered.get(key) ?? renderText(...how).then(parseManifests);
  rendered.set(key, found);
  return found;
}

/** Reads the objects of a YAML file. */
export function parseManifests(text: string): readonly Manifest[] {
  const documents = parseAllDocuments(text, { uniqueKeys: true });
  const errors = [...documents].flatMap((document) => ("errors" in document ? document.errors : []));
  if (errors[0] !== undefined) throw errors[0];
  return [...documents].map((document) => document.toJS() as Manifest | null).filter((manifest) => manifest !== null);
}

/** The manifests of a kind by the name of their service or Job. */
export function ofKind(kind: string, manifests: readonly Manifest[]): ReadonlyMap<string, Manifest> {
  const found = manifests.filter((manifest) => manifest.kind === kind);
  return new Map(found.map((manifest) => [manifest.metadata.labels?.["app.kubernetes.io/component"] ?? "", manifest]));
}
