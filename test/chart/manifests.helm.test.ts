import { readFileSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  chart,
  ofKind,
  parseManifests,
  renderChart,
  renderText,
  runHelm,
  valueSets,
  valuesFile,
} from "./render-chart.ts";
import { minors, validatorFor } from "./validate-manifest.ts";

describe.each([...valueSets, "one-pod"] as const)("with %s values", (set) => {
  it("Helm finds nothing to complain about", async () => {
    expect(await runHelm("lint", "--strict", chart, "--values", valuesFile(set))).toContain("0 chart(s) failed");
  });

  it.each(minors)("Kubernetes %s takes every manifest", async (minor) => {
    const validate = validatorFor(minor);
    const manifests = await renderChart(set, { kubernetes: `${minor}.0` });
    expect(manifests.length).toBeGreaterThan(set === "one-pod" ? 7 : 30);
    expect(manifests.flatMap(validate)).toEqual([]);
  });

  it("rendering twice gives the same text", async () => {
    expect(await renderText(set)).toBe(await renderText(set));
  });

  it("each object has a name of its own, a namespace and the labels of the release", async () => {
    const manifests = (await renderChart(set)).filter(({ kind }) => kind !== "ConfigMap");
    const names = manifests.map(({ kind, metadata }) => `${kind} ${metadata.namespace} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !name.includes(" tickets "))).toEqual([]);
    const unlabelled = manifests.filter(
      ({ metadata }) => metadata.labels?.["app.kubernetes.io/instance"] !== "tessera",
    );
    expect(unlabelled).toEqual([]);
  });

  it("has no Secret: all of them exist before", async () => {
    expect(ofKind("Secret", await renderChart(set)).size).toBe(0);
  });
});

it("the packed chart renders what its folder renders", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tessera-package-"));
  try {
    await runHelm("package", chart, "--destination", folder);
    const [packed = ""] = await readdir(folder);
    expect(packed).toMatch(/^tessera-\d+\.\d+\.\d+\.tgz$/);
    const how = ["--namespace", "tickets", "--kube-version", "1.36.0", "--values", valuesFile("full")];
    expect(await runHelm("template", "tessera", join(folder, packed), ...how)).toBe(await renderText("full"));
  } finally {
    await rm(folder, { recursive: true });
  }
});

it("Kubernetes takes the engines for development", async () => {
  const validate = validatorFor("1.36");
  const manifests = parseManifests(readFileSync(new URL("../../charts/development.yaml", import.meta.url), "utf8"));
  expect(manifests.length).toBeGreaterThan(8);
  expect(manifests.flatMap(validate)).toEqual([]);
});

it("a misspelt field is found, at any depth", async () => {
  const validate = validatorFor("1.36");
  const [deployment] = (await renderChart("full")).filter(({ kind }) => kind === "Deployment");
  if (deployment === undefined) throw new Error("there is no Deployment");
  const misspelt = structuredClone(deployment);
  misspelt.spec.template.spec.containers[0].readinessProbe.httpGet.prot = 1;
  expect(validate(misspelt)).toEqual([expect.stringContaining('"additionalProperty":"prot"')]);
  const [monitor] = (await renderChart("full")).filter(({ kind }) => kind === "ServiceMonitor");
  expect(monitor && validate({ ...monitor, spec: { ...monitor.spec, endpoint: [] } })).toHaveLength(1);
});

it("a version of Kubernetes before the oldest supported one is refused", async () => {
  await expect(renderText("minimal", { kubernetes: "1.33.9" })).rejects.toThrow("requires kubeVersion: >=1.34.0-0");
});
