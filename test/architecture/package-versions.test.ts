import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

it("the command and the gateway, which both tell it, have the version of the newest release in the changelog", () => {
  const [, released] = /^## (\d+\.\d+\.\d+)/m.exec(readFileSync(join(root, "CHANGELOG.md"), "utf8")) ?? [];
  const told = ["packages/cli", "gateway"].map((folder) => {
    const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as { version?: string };
    return manifest.version;
  });
  expect(told).toEqual([released, released]);
});

it("every package names its dependencies with an exact version", () => {
  const manifests = globSync("{package.json,{gateway,protos,test}/package.json,{packages,services}/*/package.json}", {
    cwd: root,
  });
  expect(manifests.length).toBeGreaterThan(10);
  const loose = manifests.flatMap((path) => {
    const manifest = JSON.parse(readFileSync(join(root, path), "utf8")) as Record<string, Record<string, string>>;
    return ["dependencies", "devDependencies", "optionalDependencies"].flatMap((kind) =>
      Object.entries(manifest[kind] ?? {})
        .filter(([, version]) => version !== "workspace:*" && !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version))
        .map(([name, version]) => `${path}: ${name} ${version}`),
    );
  });
  expect(loose).toEqual([]);
});
