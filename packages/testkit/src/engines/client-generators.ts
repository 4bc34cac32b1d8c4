import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Availability, enginesFolder, findProgram, installOnce, runInstaller } from "./engine-process.ts";

/** The versions that docs/clients.md names. */
export const generatorVersions = { "openapi-generator-cli": "7.25.0", "openapi-python-client": "0.29.1" } as const;

const requirements = [
  `openapi-python-client==${generatorVersions["openapi-python-client"]}`,
  // What the Python clients of openapi-generator need.
  ...["urllib3==2.8.0", "python-dateutil==4.0.0", "pydantic==2.14.4", "typing-extensions==4.16.0"],
];

/** Valid from `src` and from `dist`. */
const pom = join(import.meta.dirname, "../../src/engines/kotlin/pom.xml");

/** Generators of clients, and what compiles and runs the clients. */
export interface ClientGenerators {
  /** The jar of openapi-generator. */
  readonly generator: string;
  /** The folder of the Kotlin compiler's jars, with the libraries of the clients. */
  readonly kotlin: string;
  /** A virtual environment. */
  readonly python: string;
  /** The folder of Go's caches. */
  readonly go: string;
}

const needed = { java: "Java 17", mvn: "Maven", go: "Go 1.23", python3: "Python 3.11" };

export function findClientGenerators(): Availability {
  const missing = Object.entries(needed).filter(([program]) => findProgram(program) === undefined);
  if (missing.length === 0) return { available: true };
  return {
    available: false,
    reason: `there is no ${missing.map(([program]) => program).join(" and no ")} on the PATH`,
    remedy: `Install ${missing.map(([, name]) => name).join(" and ")} or newer; the generators come from their registries.`,
  };
}

/** Fetches all of it, once per version. */
export async function installClientGenerators(): Promise<ClientGenerators> {
  const version = generatorVersions["openapi-generator-cli"];
  const generator = await installOnce(`openapi-generator-${version}`, async (draft) => {
    const copy = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy";
    const artifact = `-Dartifact=org.openapitools:openapi-generator-cli:${version}`;
    await runInstaller("mvn", ["-q", "-B", copy, artifact, `-DoutputDirectory=${draft}`]);
  });
  const kotlin = await installOnce(`kotlin-${hashOf(await readFile(pom))}`, async (draft) => {
    const target = [`-DoutputDirectory=${draft}`, "-DincludeScope=runtime"];
    await runInstaller("mvn", ["-q", "-B", "-f", pom, "dependency:copy-dependencies", ...target]);
  });
  const python = await installOnce(`python-clients-${hashOf(requirements.join())}`, async (draft) => {
    await runInstaller("python3", ["-m", "venv", draft]);
    const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    await runInstaller(join(draft, "bin", "python"), [...install, ...requirements]);
  });
  const go = join(enginesFolder(), "go-clients");
  await mkdir(go, { recursive: true });
  return { generator: join(generator, `openapi-generator-cli-${version}.jar`), kotlin, python, go };
}

function hashOf(text: string | Uint8Array): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
