import { readFileSync } from "node:fs";
import { type Finding, well } from "./finding.ts";

/** The first that the sources and the dependencies run on. */
const oldestNode = 24;

/** Judges the version of Node.js. */
export function judgeNode(version: string): Finding {
  if (Number.parseInt(version, 10) >= oldestNode) return well(`Node.js ${version}`);
  return {
    level: "wrong",
    what: `this is Node.js ${version}`,
    why: `Tessera needs ${oldestNode} or newer`,
    mend: `run it with node_modules/.bin/node, or install Node.js ${oldestNode}`,
  };
}

/** Tells which build of Tessera this is: what its gateway says of itself. */
export function buildVersion(): string {
  const page = new URL("../package.json", import.meta.resolve("@tessera/gateway"));
  const { version = "0.0.0" } = JSON.parse(readFileSync(page, "utf8")) as { version?: string };
  return version;
}

/** Examines what this very process is made of. */
export function examineVersions(): Finding[] {
  return [judgeNode(process.versions.node), well(`Tessera ${buildVersion()}`)];
}
