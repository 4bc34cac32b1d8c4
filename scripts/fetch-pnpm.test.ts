import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { compareHashes, pnpm } from "./fetch-pnpm.mjs";

const version = pnpm.replace("pnpm@", "");
const source = readFileSync(new URL("fetch-pnpm.mjs", import.meta.url), "utf8");
const hashOf = (name: string) => new RegExp(`"${name}",\\s+"(sha512-[^"]+)"`).exec(source)?.[1];

const wrapper = { version, integrity: hashOf("pnpm") };
const program = { version, integrity: hashOf("@pnpm/exe.linux-x64") };
const written = (packages: Record<string, object>) =>
  JSON.stringify({
    packages: Object.fromEntries(Object.entries(packages).map(([name, entry]) => [`node_modules/${name}`, entry])),
  });

describe("pnpm as it was fetched", () => {
  it("is the one that the project names", () => {
    expect(compareHashes(written({ pnpm: wrapper, "@pnpm/exe.linux-x64": program }))).toEqual({
      isFetched: true,
      problem: "",
      remark: "",
    });
  });

  it.each([
    ["another content", { pnpm: { ...wrapper, integrity: program.integrity }, "@pnpm/exe.linux-x64": program }],
    ["another program", { pnpm: wrapper, "@pnpm/exe.linux-x64": wrapper }],
    ["a program without a hash", { pnpm: wrapper, "@pnpm/exe.linux-x64": { version } }],
    ["another version", { pnpm: { ...wrapper, version: "12.21.1" } }],
    ["a package that pnpm does not have", { pnpm: wrapper, "left-pad": { version, integrity: program.integrity } }],
  ])("is refused with %s", (_name, packages) => {
    expect(compareHashes(written(packages))).toMatchObject({
      isFetched: false,
      problem: expect.stringContaining("is not the package that this project names"),
    });
  });

  it("is missing where npm installed nothing", () => {
    for (const lock of [undefined, written({})]) expect(compareHashes(lock)).toMatchObject({ isFetched: false });
  });

  it("is taken for a platform whose hash is not known, which is said", () => {
    const { isFetched, remark } = compareHashes(written({ pnpm: wrapper, "@pnpm/exe.darwin-arm64": { version } }));
    expect([isFetched, remark]).toEqual([true, expect.stringContaining("@pnpm/exe.darwin-arm64")]);
  });
});
