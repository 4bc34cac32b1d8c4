import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";

const script = fileURLToPath(new URL("write-sbom.mjs", import.meta.url));
const status = `Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.36-9+deb12u10

Package: removed
Status: deinstall ok config-files
Architecture: all
Version: 1

Package: tini
Status: install ok installed
Architecture: amd64
Version: 0.19.0-1
`;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tessera-sbom-"));
  await writeFile(join(folder, "status"), status);
});
afterEach(() => rm(folder, { recursive: true }));

async function store(name: string, version: string, license?: string): Promise<string> {
  const path = join(folder, "node_modules/.pnpm", `${name.replace("/", "+")}@${version}`, "node_modules", name);
  await mkdir(path, { recursive: true });
  await writeFile(join(path, "package.json"), JSON.stringify({ name, version, license }));
  return path;
}

function write(): { readonly metadata: unknown; readonly components: readonly { purl: string; licenses?: unknown }[] } {
  const { stdout, stderr } = spawnSync(process.execPath, [script, "tessera", "1.2.3", folder, join(folder, "status")], {
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}

it("names each package once with its version and license, and of Debian what is installed", async () => {
  const yes = await store("yes", "1.0.0", "MIT");
  await store("@scope/no", "2.0.0", "(MIT OR Apache-2.0)");
  await store("@tessera/kit", "0.1.0", "Apache-2.0");
  const page = join(await store("@tessera/pages", "0.1.0"), "dist/scan");
  await mkdir(page, { recursive: true });
  const inside = { name: "library of C++", license: "Apache-2.0 WITH LLVM-exception", within: "@drawn/with" };
  await writeFile(
    join(page, "bundled.json"),
    JSON.stringify([{ name: "@drawn/with", version: "3.1.0", license: "ISC" }, inside]),
  );
  await store("odd", "3.0.0", "SEE LICENSE IN file");
  await symlink(yes, join(folder, "node_modules/.pnpm/odd@3.0.0/node_modules/yes"));
  const { metadata, components } = write();
  expect(metadata).toMatchObject({ component: { type: "container", name: "tessera", version: "1.2.3" } });
  expect(components.map(({ purl, licenses }) => [purl, licenses])).toEqual([
    ["pkg:generic/library%20of%20C%2B%2B", [{ expression: "Apache-2.0 WITH LLVM-exception" }]],
    ["pkg:npm/%40drawn/with@3.1.0", [{ license: { id: "ISC" } }]],
    ["pkg:npm/%40scope/no@2.0.0", [{ expression: "(MIT OR Apache-2.0)" }]],
    ["pkg:npm/odd@3.0.0", [{ license: { name: "SEE LICENSE IN file" } }]],
    ["pkg:npm/yes@1.0.0", [{ license: { id: "MIT" } }]],
    [`pkg:generic/node@${process.versions.node}`, undefined],
    ["pkg:deb/debian/libc6@2.36-9%2Bdeb12u10?arch=amd64", undefined],
    ["pkg:deb/debian/tini@0.19.0-1?arch=amd64", undefined],
  ]);
});

it("is the same text for the same contents", async () => {
  await store("one", "1.0.0", "MIT");
  expect(write()).toEqual(write());
});
