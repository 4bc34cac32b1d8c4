import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { findProgram, installOnce, runInstaller } from "@tessera/testkit/engines/engine-process";
import { pythonProgram, pythonSettings } from "./python-client.ts";
import { typescriptProgram } from "./typescript-client.ts";

const run = promisify(execFile);
const modules = join(import.meta.dirname, "..", "node_modules");

/** What both programs do, told by their environment. */
export interface Journey {
  readonly BASE_URL: string;
  readonly OPERATOR_KEY: string;
  readonly API_KEY: string;
  readonly ORGANIZER: string;
  readonly EVENT: string;
  readonly RECORDS: string;
  readonly SECRET: string;
  readonly PDF: string;
}

/** Generates types with openapi-typescript, has a program that uses them checked, runs it and returns what it prints. */
export async function runTypescriptClient(journey: Journey): Promise<unknown> {
  // Inside the package, so that the program finds openapi-fetch.
  const folder = await mkdtemp(join(modules, ".generated-client-"));
  try {
    await writeFile(join(folder, "client.mts"), typescriptProgram);
    const document = `${journey.BASE_URL}/api/v1/openapi.json`;
    await run(join(modules, ".bin", "openapi-typescript"), [document, "--output", join(folder, "schema.mts")]);
    const strict = ["--strict", "--skipLibCheck", "--rewriteRelativeImportExtensions", "--types", "node"];
    const output = ["--target", "es2024", "--module", "nodenext", "--outDir", join(folder, "out")];
    const options = [...strict, ...output, join(folder, "client.mts")];
    await run(join(modules, ".bin", "tsc"), options).catch((error: { readonly stdout?: string }) => {
      throw new Error(`the client does not fit the generated types: ${error.stdout}`);
    });
    return await runProgram(process.execPath, [join(folder, "out", "client.mjs")], { folder, journey });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const generator = "openapi-python-client";
const generatorVersion = "0.29.1";

/** Generates a client with openapi-python-client, runs a program that uses it, and returns what that prints. */
export async function runPythonClient(journey: Journey, python: string): Promise<unknown> {
  const folder = await mkdtemp(join(modules, ".generated-client-"));
  try {
    await writeFile(join(folder, "settings.yml"), pythonSettings);
    await writeFile(join(folder, "client.py"), pythonProgram);
    const from = ["--url", `${journey.BASE_URL}/api/v1/openapi.json`, "--config", "settings.yml", "--meta", "none"];
    // Its own script names the folder in which it was installed, which has another name since then.
    const options = ["-m", "openapi_python_client", "generate", ...from, "--output-path", "tessera_client"];
    const binaries = join(python, "bin");
    await run(join(binaries, "python"), options, {
      cwd: folder,
      env: { ...process.env, PATH: `${binaries}${delimiter}${process.env["PATH"]}` },
    });
    return await runProgram(join(binaries, "python"), ["client.py"], { folder, journey });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runProgram(
  program: string,
  args: readonly string[],
  { folder, journey }: { folder: string; journey: Journey },
): Promise<unknown> {
  const env = { ...process.env, NO_PROXY: "127.0.0.1,localhost", ...journey };
  const { stdout } = await run(program, args, { cwd: folder, env, timeout: 60_000 });
  return JSON.parse(stdout) as unknown;
}

/** Makes a virtual environment with the generator, once per machine; or says why there is none. */
export async function preparePython(): Promise<{ readonly folder: string } | { readonly missing: string }> {
  const required = (process.env["REQUIRE"] ?? "").split(",").includes("python");
  const found = await findPython();
  if (required && "missing" in found) throw new Error(found.missing);
  return found;
}

async function findPython(): Promise<{ readonly folder: string } | { readonly missing: string }> {
  const python = findProgram("python3");
  if (python === undefined) return { missing: "there is no python3 on the PATH; install Python 3.11 or newer" };
  try {
    const { stdout } = await run(python, ["-c", "import sys; print('%d.%d' % sys.version_info[:2])"]);
    const name = `${generator}-${generatorVersion}-python-${stdout.trim()}`;
    const folder = await installOnce(name, async (draft) => {
      await runInstaller(python, ["-m", "venv", draft]);
      const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
      await runInstaller(join(draft, "bin", "python"), [...install, `${generator}==${generatorVersion}`]);
    });
    return { folder };
  } catch (error) {
    return { missing: `${generator} cannot be installed with ${python}: ${String(error).slice(0, 300)}` };
  }
}
