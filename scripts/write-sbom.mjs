// Writes the bill of materials of an image as CycloneDX: its npm packages, those that pages of ours have in them, Node, and the
// packages of Debian. Equal contents give an equal text.
//   node scripts/write-sbom.mjs NAME VERSION FOLDER DPKG_STATUS
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * @typedef {{ readonly type: string, readonly name: string, readonly version: string, readonly purl: string,
 *   readonly "bom-ref": string, readonly licenses?: readonly object[] }} Component
 */

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [name, version, folder, status] = process.argv.slice(2);
  if (name === undefined || version === undefined || folder === undefined || status === undefined) {
    process.stderr.write("node scripts/write-sbom.mjs NAME VERSION FOLDER DPKG_STATUS\n");
    process.exit(2);
  }
  const debian = listDebian(readFileSync(status, "utf8"));
  const node = componentOf({ type: "application", name: "node", version: process.versions.node, kind: "generic" });
  const components = [...listPackages(join(folder, "node_modules", ".pnpm")), node, ...debian];
  const subject = { type: "container", "bom-ref": `${name}@${version}`, name, version };
  const bom = { bomFormat: "CycloneDX", specVersion: "1.6", version: 1, metadata: { component: subject }, components };
  process.stdout.write(`${JSON.stringify(bom, null, 1)}\n`);
}

/**
 * The packages in a store of pnpm, except those of this repository, which the image itself is; of these what they have in them.
 *
 * @param {string} store
 * @returns {Component[]}
 */
function listPackages(store) {
  /** @type {Map<string, Component>} */
  const found = new Map();
  for (const entry of readdirSync(store)) {
    for (const folder of packagesIn(join(store, entry, "node_modules"))) {
      const { name, version, license } = /** @type {{ name: string, version: string, license?: unknown }} */ (
        JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
      );
      const components = name.startsWith("@tessera/")
        ? listBundled(join(folder, "dist"))
        : [toComponent({ name, version, license })];
      for (const component of components) found.set(component.purl, component);
    }
  }
  return [...found.values()].sort((a, b) => (a.purl < b.purl ? -1 : 1));
}

/**
 * What pages hold: their build has written it beside each.
 *
 * @param {string} dist
 * @returns {Component[]}
 */
function listBundled(dist) {
  if (!existsSync(dist)) return [];
  const lists = readdirSync(dist).map((page) => join(dist, page, "bundled.json"));
  return lists.filter(existsSync).flatMap((path) => {
    const bundled = /** @type {{ name: string, version?: string, license: string }[]} */ (
      JSON.parse(readFileSync(path, "utf8"))
    );
    return bundled.map(toComponent);
  });
}

/**
 * @param {{ name: string, version?: string, license?: unknown }} shown without a version it is a part of a package, no package
 * @returns {Component}
 */
function toComponent({ name, version = "", license }) {
  const component = componentOf({ type: "library", name, version, kind: version === "" ? "generic" : "npm" });
  return typeof license === "string" ? { ...component, licenses: [toLicense(license)] } : component;
}

/**
 * The folders of packages that are no links.
 *
 * @param {string} folder
 * @returns {string[]}
 */
function packagesIn(folder) {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return entries.flatMap(({ name }) => {
    const path = join(folder, name);
    if (name.startsWith("@")) return packagesIn(path);
    return existsSync(join(path, "package.json")) ? [path] : [];
  });
}

/** @param {string} license an identifier of SPDX, an expression, or a name of its own */
function toLicense(license) {
  if (/\s(?:OR|AND|WITH)\s/.test(license)) return { expression: license };
  return {
    license: /^[A-Za-z0-9.+-]+$/.test(license) && license !== "UNLICENSED" ? { id: license } : { name: license },
  };
}

/**
 * The installed packages in a file of dpkg. Programs that an image deletes afterwards are among them.
 *
 * @param {string} status
 * @returns {Component[]}
 */
function listDebian(status) {
  const paragraphs = status.split("\n\n").filter((paragraph) => /^Status: install ok installed$/m.test(paragraph));
  return paragraphs.map((paragraph) => {
    /** @param {string} field */
    const read = (field) => new RegExp(`^${field}: (.*)$`, "m").exec(paragraph)?.[1] ?? "";
    const [name, version, architecture] = [read("Package"), read("Version"), read("Architecture")];
    return componentOf({ type: "library", name, version, kind: "deb/debian", qualifiers: `?arch=${architecture}` });
  });
}

/**
 * @param {{ type: string, name: string, version: string, kind: string, qualifiers?: string }} what
 * @returns {Component}
 */
function componentOf({ type, name, version, kind, qualifiers = "" }) {
  const path = name.split("/").map(encodeURIComponent).join("/");
  const purl = `pkg:${kind}/${path}${version === "" ? "" : `@${encodeURIComponent(version)}`}${qualifiers}`;
  return { type, "bom-ref": purl, name, version, purl };
}
