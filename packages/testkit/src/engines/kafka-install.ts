import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { installOnce, runInstaller } from "./engine-process.ts";

/** Valid from `src` and from `dist`. */
const sources = join(import.meta.dirname, "../../src/engines/kafka");

export const logSettings = join(sources, "log4j2.properties");

/** Installs the broker's jars from the Maven repository, once per version, and returns their folder. It needs Java 17 and Maven. */
export async function installKafka(): Promise<string> {
  const pom = join(sources, "pom.xml");
  const version = createHash("sha256")
    .update(await readFile(pom))
    .digest("hex")
    .slice(0, 12);
  return installOnce(`kafka-${version}`, async (draft) => {
    const target = [`-DoutputDirectory=${draft}`, "-DincludeScope=runtime"];
    await runInstaller("mvn", ["-q", "-B", "-f", pom, "dependency:copy-dependencies", ...target]);
  });
}
