import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { simulateOptions } from "@tessera/cli/simulate/simulate";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { type Manifest, parseManifests, renderChart } from "./render-chart.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), "utf8");

interface Pipeline {
  readonly metadata: { readonly name: string };
  readonly requires?: readonly { readonly configs: readonly string[] }[];
  readonly manifests?: { readonly rawYaml: readonly string[] };
  readonly build: {
    readonly artifacts: readonly {
      readonly image: string;
      readonly docker: { readonly dockerfile: string; readonly target: string };
    }[];
  };
  readonly deploy: { readonly helm: { readonly releases: readonly Release[] } };
  readonly profiles: readonly Profile[];
}
interface Release {
  readonly name: string;
  readonly chartPath: string;
  readonly namespace: string;
  readonly valuesFiles: readonly string[];
  readonly setValueTemplates: Readonly<Record<string, string>>;
}
interface Profile {
  readonly name: string;
  readonly portForward?: readonly {
    readonly resourceName: string;
    readonly namespace: string;
    readonly port: number;
  }[];
  readonly deploy?: { readonly helm: { readonly releases: readonly Release[] } };
  readonly verify?: readonly {
    readonly container: {
      readonly image: string;
      readonly args: readonly string[];
      readonly env: readonly { readonly name: string; readonly value: string }[];
    };
  }[];
}

const [engines, tessera] = parseAllDocuments(read("skaffold.yaml")).map((document) => document.toJS() as Pipeline);
if (engines === undefined || tessera === undefined) throw new Error("skaffold.yaml has not two pipelines");
const [release] = tessera.deploy.helm.releases;
if (release === undefined) throw new Error("skaffold.yaml has no release");
const profile = (name: string) => tessera.profiles.find((each) => each.name === name);

/** What Skaffold would set: each image, which it has built, by its repository and tag. */
function valuesOf({ setValueTemplates }: Release): object {
  const values: Record<string, Record<string, string>> = {};
  for (const [path, template] of Object.entries(setValueTemplates)) {
    const [, what = "", image = ""] = /^\{\{\.IMAGE_(REPO|TAG)_(\w+)\}\}$/.exec(template) ?? [];
    const artifact = tessera?.build.artifacts.find((each) => each.image.replaceAll("-", "_") === image);
    if (artifact === undefined) throw new Error(`${template} names no image that is built`);
    const [section = "", key = ""] = path.split(".");
    values[section] = { ...values[section], [key]: what === "REPO" ? `registry/${artifact.image}` : "built" };
  }
  return values;
}

const environmentOf = (manifests: readonly Manifest[]) =>
  manifests.flatMap(({ kind, spec }) => {
    const pod =
      kind === "Pod" ? spec : kind === "Deployment" || kind === "Job" ? spec.template.spec : { containers: [] };
    return (pod.containers as { env: Variable[] }[]).flatMap(({ env }) => env);
  });
interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}

describe("skaffold.yaml", () => {
  it("builds the targets of the Dockerfile, and deploys the engines first", () => {
    const stages = Array.from(read("Dockerfile").matchAll(/^FROM \S+ AS (\S+)$/gm), ([, stage]) => stage);
    for (const { docker } of tessera.build.artifacts) {
      expect(docker.dockerfile).toBe("Dockerfile");
      expect(stages).toContain(docker.target);
    }
    expect(tessera.requires).toEqual([{ configs: [engines.metadata.name] }]);
    const files = [...(engines.manifests?.rawYaml ?? []), release.chartPath, ...release.valuesFiles];
    expect(files.filter((path) => !existsSync(fileURLToPath(new URL(path, root))))).toEqual([]);
    expect(tessera.profiles.map(({ name }) => name)).toEqual(["dev", "ci", "e2e"]);
    expect(profile("ci")?.deploy?.helm.releases).toEqual(tessera.deploy.helm.releases);
  });

  it("gives each Deployment the image that it has built", async () => {
    const manifests = await renderChart("development", { values: valuesOf(release) });
    const images = manifests
      .filter(({ kind }) => kind === "Deployment")
      .map(({ metadata, spec }) => [metadata.name, spec.template.spec.containers[0].image]);
    expect(images.length).toBe(7);
    for (const [name, image] of images)
      expect(image).toBe(`registry/tessera${name === "tessera-layout-and-render" ? "-chromium" : ""}:built`);
  });

  it("finds every Secret and every engine that pods name among the engines that it deploys", async () => {
    const deployed = parseManifests(read("charts/development.yaml"));
    const secrets = deployed.filter(({ kind }) => kind === "Secret") as unknown as {
      metadata: { name: string };
      stringData: Record<string, string>;
    }[];
    const keys = secrets.flatMap(({ metadata, stringData }) =>
      Object.keys(stringData).map((key) => `${metadata.name}/${key}`),
    );
    const ports = deployed
      .filter(({ kind }) => kind === "Service")
      .map(({ metadata, spec }) => `${metadata.name}:${spec.ports[0].port}`);
    const variables = environmentOf(await renderChart("development"));
    const asked = variables.flatMap(({ valueFrom }) =>
      valueFrom === undefined ? [] : [`${valueFrom.secretKeyRef.name}/${valueFrom.secretKeyRef.key}`],
    );
    expect(asked.length).toBeGreaterThan(20);
    expect(asked.filter((key) => !keys.includes(key))).toEqual([]);
    const texts = [
      ...variables.flatMap(({ name, value }) => (/BROKERS|ENDPOINT/.test(name) ? [value ?? ""] : [])),
      ...secrets.flatMap(({ stringData }) => Object.values(stringData).filter((text) => text.includes("://"))),
    ];
    const hosts = texts.map((text) => text.replace(/^.*(?:@|\/\/)/, "").replace(/\/.*$/, ""));
    expect(new Set(hosts)).toEqual(new Set(ports));
  });

  it("forwards and examines the Service for HTTP, with the operator's key of the engines", async () => {
    const services = (await renderChart("development")).filter(({ kind }) => kind === "Service");
    const [forward] = profile("dev")?.portForward ?? [];
    const service = services.find(({ metadata }) => metadata.name === forward?.resourceName);
    expect(service?.spec.ports[0].port).toBe(forward?.port);
    const [check] = profile("e2e")?.verify ?? [];
    const [command, ...args] = check?.container.args ?? [];
    expect(command).toBe("simulate");
    expect(args[args.indexOf("--url") + 1]).toBe(`http://${service?.metadata.name}.${release.namespace}`);
    const flags = args.filter((arg) => arg.startsWith("--")).map((arg) => arg.slice(2));
    expect(flags.filter((flag) => !(flag in simulateOptions))).toEqual([]);
    expect(check?.container.env).toEqual([
      { name: "TESSERA_OPERATOR_KEY", value: /operatorKey: (\S+)/.exec(read("charts/development.yaml"))?.[1] },
    ]);
  });
});
