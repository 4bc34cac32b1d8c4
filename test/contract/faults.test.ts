import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Fault, type FaultKind, isTransient } from "@tessera/kit/fault";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

interface Row {
  /** The folder of the package. */
  readonly home: string;
  readonly code: string;
  readonly kind: string;
  readonly status: number | undefined;
}

const page = readFileSync(join(root, "docs/faults.md"), "utf8");
const [introduction = "", ...chapters] = page.split("\n## ");

function readRows(chapter: string): Row[] {
  const home = /^.*`(.+)`/.exec(chapter)?.[1] ?? "";
  return [...chapter.matchAll(/^\| ([a-z]\w*) \| (\w+) \|(?: (\d{3}) \|)? [A-Z].*\. \|$/gm)].map(
    ([, code = "", kind = "", status]) => ({
      home,
      code,
      kind,
      status: status === undefined ? undefined : Number(status),
    }),
  );
}

async function readCatalogues(): Promise<{ home: string; codes: Readonly<Record<string, FaultKind>> }[]> {
  const paths = globSync("{gateway,{packages,services}/*}/src/faults.ts", { cwd: root });
  return Promise.all(
    paths.map(async (path) => {
      const { fault } = (await import(join(root, path))) as { fault: { codes: Readonly<Record<string, FaultKind>> } };
      return { home: dirname(dirname(path)), codes: fault.codes };
    }),
  );
}

async function statusOf(kind: string, code: string): Promise<number | undefined> {
  const { httpStatus, toProblem } = (await import(join(root, "gateway/src/http/problem.ts"))) as {
    httpStatus: Readonly<Record<string, number>>;
    toProblem: (fault: Fault) => { status: string };
  };
  return httpStatus[toProblem(new Fault(kind as FaultKind, code, "")).status];
}

describe("docs/faults.md", async () => {
  const catalogues = await readCatalogues();
  const rows = chapters.flatMap(readRows);

  it("has a row for every code that is declared, and no other", () => {
    const declared = catalogues.flatMap(({ home, codes }) =>
      Object.entries(codes).map(([code, kind]) => `${home} ${code} ${kind}`),
    );
    expect(declared.length).toBeGreaterThan(100);
    expect(rows.map(({ home, code, kind }) => `${home} ${code} ${kind}`).sort()).toEqual(declared.sort());
  });

  it("names the status that the gateway answers with", async () => {
    for (const { home, code, kind, status } of rows) {
      if (status === undefined) expect(home, code).toMatch(/^packages\/(?!kit$)/);
      else expect(await statusOf(kind, code), code).toBe(status);
    }
  });

  it("says of each kind how it is answered, and whether it passes by itself", async () => {
    const kinds = [...introduction.matchAll(/^\| ([a-z_]+) \| (\d+) \| (yes|no) \|/gm)];
    expect(kinds.length).toBe(9);
    for (const [, kind = "", status, passes] of kinds) {
      expect(await statusOf(kind, "any"), kind).toBe(Number(status));
      expect(isTransient(new Fault(kind as FaultKind, "any", "")), kind).toBe(passes === "yes");
    }
  });
});

describe("a fault code", async () => {
  const catalogues = await readCatalogues();

  it("has one owner", () => {
    const all = catalogues.flatMap(({ codes }) => Object.keys(codes));
    expect(all.filter((code, index) => all.indexOf(code) !== index)).toEqual([]);
  });

  it("is used", () => {
    const files = globSync("{gateway,{packages,services}/*}/src/**/*.ts", { cwd: root });
    const text = files
      .filter((path) => !/\/faults\.ts$|\.test\.ts$/.test(path))
      .map((path) => readFileSync(join(root, path), "utf8"))
      .join("\n");
    const all = catalogues.flatMap(({ codes }) => Object.keys(codes));
    expect(all.filter((code) => !text.includes(`"${code}"`))).toEqual([]);
  });
});
