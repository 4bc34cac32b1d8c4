import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@tessera/testkit/eventually";
import { customResources, folderOf } from "../chart/published-modules.ts";
import { chart, parseManifests, runHelm, type ValueSet, valuesFile } from "../chart/render-chart.ts";
import type { Kubernetes } from "./start-kubernetes.ts";

/** Teaches the server the objects of operators, as their makers publish them. */
export async function applyCustomResources({ kubectl }: Kubernetes): Promise<void> {
  for (const [module, path] of customResources)
    await kubectl("apply", "--server-side", "--filename", join(folderOf(module), path));
  await eventually(() => areEstablished(kubectl));
}

/** kubectl waits for a condition only of objects that have conditions: a busy server gives them a moment later. */
async function areEstablished(kubectl: Kubernetes["kubectl"]): Promise<boolean> {
  try {
    await kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=120s");
    return true;
  } catch (error) {
    if (error instanceof Error && error.message.includes("conditions accessor error")) return false;
    throw error;
  }
}

/**
 * Lets the server examine a render of the chart in a restricted namespace, as if it were applied; a warning of the server
 * is a failure. Returns the kinds. The pod of the test is left out: it needs its account to be there.
 */
export async function renderForServer({ apply, kubectl }: Kubernetes, set: ValueSet): Promise<string[]> {
  const name = `set-of-${set}`;
  const labels = Object.fromEntries(
    ["enforce", "warn"].map((mode) => [`pod-security.kubernetes.io/${mode}`, "restricted"]),
  );
  await apply({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });
  const folder = await mkdtemp(join(tmpdir(), "tessera-render-"));
  try {
    const text = await runHelm(
      ...["template", "tessera", chart, "--namespace", name, "--kube-version", "1.36.0", "--values", valuesFile(set)],
    );
    const items = parseManifests(text).filter(({ kind }) => kind !== "Pod");
    const file = join(folder, "objects.json");
    await writeFile(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }));
    await kubectl("apply", "--server-side", "--dry-run=server", "--warnings-as-errors", "--filename", file);
    return items.map(({ kind }) => kind);
  } finally {
    await rm(folder, { recursive: true });
    await kubectl("delete", "namespace", name, "--wait=false");
  }
}
