import { cruise, type ICruiseResult } from "dependency-cruiser";
import { importRules } from "./import-rules.ts";

export interface WrongImport {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
}

const folders = ["gateway", "packages", "protos", "services", "test"];

/** Applies the import rules to all files below a root. */
export async function findWrongImports(root: string): Promise<WrongImport[]> {
  const { output } = await cruise(
    folders,
    {
      baseDir: root,
      validate: true,
      ruleSet: { forbidden: [...importRules] },
      // The one of its parsers that reads types without the compiler's interface, which TypeScript 7 has not.
      parser: "swc",
      tsPreCompilationDeps: true,
      doNotFollow: { path: "(?:^|/)(?:node_modules|gen)/" },
      exclude: { path: "/dist/" },
    },
    {
      conditionNames: ["source", "node", "import", "default"],
      exportsFields: ["exports"],
      extensions: [".ts", ".tsx", ".js"],
    },
  );
  return (output as ICruiseResult).summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to }));
}
