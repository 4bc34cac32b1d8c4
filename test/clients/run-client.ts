import { execFile } from "node:child_process";
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import type { ClientGenerators } from "@tessera/testkit/engines/client-generators";
import { readClientsPage } from "./clients-page.ts";
import { type Journey, uploaded } from "./journey.ts";

const run = promisify(execFile);
const modules = join(import.meta.dirname, "..", "node_modules");

/** A folder in which a client is generated, compiled and run. */
interface Place {
  readonly folder: string;
  readonly journey: Journey;
  /** Runs a program there, and returns its output. */
  run(program: string, args: readonly string[], env?: Readonly<Record<string, string>>): Promise<string>;
}

/** Generates types with openapi-typescript as the page says, has a program that uses them checked, and returns what it prints. */
export function runTypescriptClient(journey: Journey): Promise<unknown> {
  return inFolder(journey, async (place) => {
    const { folder } = place;
    await mkdir(join(folder, "node_modules"));
    for (const path of [join(modules, "openapi-fetch"), join(modules, "..", "..", "node_modules", "@types")])
      await symlink(path, join(folder, "node_modules", basename(path)));
    await writeFile(join(folder, "package.json"), '{"type": "module"}');
    await copyFile(join(import.meta.dirname, "flow-of-openapi-typescript.txt"), join(folder, "client.ts"));
    await writeProgram(join(folder, "bin", "npx"), 'exec "$@"');
    const [, generate = "", use = ""] = textsOf("TypeScript", "sh");
    await runLines(place, generate, { programs: join(modules, ".bin") });
    return runLines(place, use, { programs: [join(modules, ".bin"), dirname(process.execPath)].join(delimiter) });
  });
}

/** The clients that `npm run test:clients` makes, by their headings on the page. */
export const languages: Readonly<Record<string, (place: Place, generators: ClientGenerators) => Promise<string>>> = {
  TypeScript: async (place) => {
    await copyFile(join(import.meta.dirname, "flow-of-openapi-typescript.txt"), join(place.folder, "client.ts"));
    await writeFile(join(place.folder, "package.json"), "{}");
    let output = "";
    for (const lines of textsOf("TypeScript", "sh"))
      output = await runLines(place, lines, { programs: dirname(process.execPath) });
    return output;
  },

  "Python, with openapi-generator": async (place, { generator, python }) => {
    await symlink(generator, join(place.folder, "openapi-generator-cli.jar"));
    await generate(place, "Python, with openapi-generator");
    const program = join(python, "bin", "python");
    await place.run(program, ["-m", "compileall", "-q", "tessera-python"]);
    await copyFile(join(import.meta.dirname, "flow.py"), join(place.folder, "flow.py"));
    return place.run(program, ["flow.py"], { PYTHONPATH: join(place.folder, "tessera-python") });
  },

  "Python, with openapi-python-client": async (place, { python }) => {
    const program = join(python, "bin", "python");
    // Its own script names the folder in which it was installed, which has another name since then.
    await writeProgram(
      join(place.folder, "bin", "openapi-python-client"),
      `exec ${program} -m openapi_python_client "$@"`,
    );
    await writeFile(join(place.folder, "tessera.yml"), textOf("Python, with openapi-python-client", "yaml"));
    const warnings = await generate(place, "Python, with openapi-python-client", join(python, "bin"));
    refuseMissingParts(warnings);
    await place.run(program, ["-m", "compileall", "-q", "tessera"]);
    await copyFile(join(import.meta.dirname, "flow-of-python-client.py"), join(place.folder, "flow.py"));
    return place.run(program, ["flow.py"]);
  },

  Go: async (place, { generator, go }) => {
    await symlink(generator, join(place.folder, "openapi-generator-cli.jar"));
    await copyFile(join(import.meta.dirname, "flow.go"), join(place.folder, "flow.go"));
    const caches = { GOPATH: go, GOCACHE: join(go, "built"), GOFLAGS: "-modcacherw", GOWORK: "off" };
    await generate(place, "Go", undefined, caches);
    await place.run("go", ["vet", "./..."], caches);
    await place.run("go", ["build", "-o", "flow", "."], caches);
    return place.run(join(place.folder, "flow"), []);
  },

  Kotlin: async (place, { generator, kotlin }) => {
    await symlink(generator, join(place.folder, "openapi-generator-cli.jar"));
    await generate(place, "Kotlin");
    await copyFile(join(import.meta.dirname, "flow.kt"), join(place.folder, "Flow.kt"));
    const jars = (await readdir(kotlin)).map((jar) => join(kotlin, jar)).join(delimiter);
    const sources = ["tessera-kotlin/src/main/kotlin", "Flow.kt"];
    const options = ["-no-stdlib", "-no-reflect", "-nowarn", "-cp", jars, "-d", "out", ...sources];
    await place.run("java", ["-Xmx2g", "-cp", jars, "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", ...options]);
    return place.run("java", ["-cp", `out${delimiter}${jars}`, "FlowKt"]);
  },
};

/** Generates the client of a language, compiles it with a program that uses it, and returns what that prints. */
export function runClient(language: string, journey: Journey, generators: ClientGenerators): Promise<unknown> {
  const make = languages[language];
  if (make === undefined) throw new Error(`there is no client of ${language}`);
  return inFolder(journey, (place) => make(place, generators));
}

async function inFolder(journey: Journey, use: (place: Place) => Promise<string>): Promise<unknown> {
  const folder = await mkdtemp(join(tmpdir(), "tessera-client-"));
  const { records, ...given } = journey;
  const place: Place = {
    folder,
    journey,
    async run(program, args, env = {}) {
      const { PATH = "" } = process.env;
      const options = {
        cwd: folder,
        env: { ...process.env, NO_PROXY: "127.0.0.1,localhost", ...given, ...env, PATH: env["PATH"] ?? PATH },
        maxBuffer: 64 * 1024 * 1024,
      };
      try {
        const { stdout } = await run(program, args, options);
        return stdout;
      } catch (error) {
        const { stdout = "", stderr = "" } = error as { readonly stdout?: string; readonly stderr?: string };
        const command = [program, ...args].join(" ").slice(0, 300);
        throw new Error(`${command} failed: ${`${stdout}${stderr}`.slice(0, 6000)}`, { cause: error });
      }
    },
  };
  try {
    await writeFile(join(folder, "shop.ndjson"), records);
    await writeFile(join(folder, "background.pdf"), uploaded);
    return JSON.parse(await use(place)) as unknown;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs the lines of the page that generate a client; programs of the folder's `bin` come first. */
function generate(
  place: Place,
  language: string,
  programs = "",
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  return runLines(place, textOf(language, "sh"), { programs, env });
}

function runLines(
  place: Place,
  lines: string,
  { programs = "", env = {} }: { readonly programs?: string; readonly env?: Readonly<Record<string, string>> },
): Promise<string> {
  const path = [join(place.folder, "bin"), programs, process.env["PATH"]].join(delimiter);
  return place.run("sh", ["-e", "-c", lines], { ...env, PATH: path });
}

function textsOf(language: string, kind: string): string[] {
  const blocks = readClientsPage().get(language) ?? [];
  return blocks.filter((block) => block.kind === kind).map(({ text }) => text);
}

function textOf(language: string, kind: string): string {
  const last = textsOf(language, kind).at(-1);
  if (last === undefined) throw new Error(`docs/clients.md has no ${kind} for ${language}`);
  return last;
}

/** The generator leaves out what it does not understand and succeeds: that may be further types of an upload, and nothing else. */
function refuseMissingParts(told: string): void {
  const missing = told.split("\n").filter((line) => /^(?:Unable|Cannot|Unsupported)|will not be generated/.test(line));
  const wrong = missing.filter((line) => !/^Unsupported content type image\/\w+$/.test(line));
  if (wrong.length > 0) throw new Error(`openapi-python-client leaves out: ${wrong.join("\n")}`);
}

async function writeProgram(path: string, script: string): Promise<void> {
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, `#!/bin/sh\n${script}\n`);
  await chmod(path, 0o755);
}

/** The programs of the test, whose parts the page shows. */
export const programs: Readonly<Record<string, string>> = {
  TypeScript: "flow-of-openapi-typescript.txt",
  "Python, with openapi-generator": "flow.py",
  "Python, with openapi-python-client": "flow-of-python-client.py",
  Go: "flow.go",
  Kotlin: "flow.kt",
};

export function readProgram(name: string): Promise<string> {
  return readFile(join(import.meta.dirname, name), "utf8");
}
