import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const sources = fileURLToPath(new URL("../../", import.meta.url));

interface Project {
  readonly include: readonly string[];
  readonly exclude?: readonly string[];
  readonly references?: readonly { readonly path: string }[];
}

const readJson = (path: string) => JSON.parse(readFileSync(path, "utf8")) as unknown;
const projectOf = (folder: string) => readJson(join(folder, "tsconfig.json")) as Project;

/** The folders that are compiled to start the platform. */
function compiledFolders(): readonly string[] {
  const folders = new Set([join(sources, "packages/cli")]);
  for (const folder of folders)
    for (const { path } of projectOf(folder).references ?? []) folders.add(join(folder, path));
  return [...folders];
}

/** Imports of a folder that its package does not bring when it is installed without the tools of developers. */
function unbrought(folder: string): readonly string[] {
  const { include, exclude = [] } = projectOf(folder);
  const { name, dependencies, optionalDependencies } = readJson(join(folder, "package.json")) as {
    readonly name: string;
    readonly dependencies?: object;
    readonly optionalDependencies?: object;
  };
  const brought = new Set([name, ...Object.keys({ ...dependencies, ...optionalDependencies })]);
  const files = include.flatMap((path) =>
    globSync(path.endsWith(".ts") ? path : `${path}/**/*.ts`, {
      cwd: folder,
      exclude: [...exclude.map((each) => (each.endsWith(".ts") ? each : `${each}/**`)), "node_modules/**", "dist/**"],
    }),
  );
  return files.flatMap((file) =>
    [
      ...readFileSync(join(folder, file), "utf8").matchAll(
        /^(?:(?:im|ex)port .*|\}) from "([^"]+)"|\bimport\("([^"]+)"\)/gm,
      ),
    ]
      .map(([, here, late = ""]) => here ?? late)
      .filter((imported) => !/^(?:\.|node:)/.test(imported))
      .map((imported) => /^(?:@[^/]+\/)?[^/]+/.exec(imported)?.[0] ?? "")
      .filter((imported) => !brought.has(imported))
      .map((imported) => `${file} imports ${imported}`),
  );
}

it("what is compiled to start the platform needs no tools of developers", () => {
  const folders = compiledFolders();
  expect(folders.length).toBeGreaterThan(10);
  expect(
    folders.flatMap((folder) => unbrought(folder).map((each) => `${folder.slice(sources.length)}: ${each}`)),
  ).toEqual([]);
});
