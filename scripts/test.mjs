// Everything `npm test` is: the checks that need no running code, then the tests, then one line that sums them up.
//   npm test                          all of it
//   npm test -- packages/kit          only the tests whose path contains one of the words
//   npm test -- --only=checks,unit    only these of: checks, unit, db, kafka, redis, s3, e2e, cluster
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { findEngine } from "./find-engines.mjs";
import { endStepsOnSignal, runStep } from "./run-step.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const protos = join(root, "protos");
const binaries = join(root, "node_modules", ".bin");
const folder = memoryFolder() ?? tmpdir();
removeLeftovers();
const scratch = mkdtempSync(join(folder, "tessera-npm-test-"));
// Servers that must not run as root reach what is theirs in it.
chmodSync(scratch, 0o711);
/**
 * Which tests need what beyond the packages; REQUIRE, a comma-separated list, makes a missing one a failure.
 *
 * @type {Readonly<Record<string, readonly import("./find-engines.mjs").Engine[]>>}
 */
const needs = {
  unit: [],
  db: ["postgres"],
  kafka: ["postgres", "kafka"],
  redis: ["redis"],
  s3: ["s3"],
  e2e: ["postgres"],
  cluster: ["postgres", "kafka", "redis"],
};
const projects = Object.keys(needs);
/**
 * Those of one line run side by side, as many files at a time: the tests of engines wait for most of their time, and unit
 * tests use it. All others fill the machine.
 *
 * @type {readonly { readonly projects: readonly string[], readonly atATime: number }[]}
 */
const sessions = [
  { projects: ["unit", "kafka", "redis", "s3"], atATime: 3 },
  { projects: ["db"], atATime: 3 },
  { projects: ["e2e"], atATime: 2 },
  { projects: ["cluster"], atATime: 2 },
];
const groups = ["checks", ...projects];
/** Long enough for the slowest machine in use; a run that takes longer hangs. */
const limitSeconds = { check: 300, engines: 900, tests: 1200 };
/** What is printed of a failure, so that ten failures can still be read. The first lines of a check say what is wrong, the last of a test run. */
const shownLines = { check: 120, tests: 300 };

/** @type {import("./record-results.mjs").Results} */
const total = { passed: 0, failed: [], skipped: [] };

endStepsOnSignal();
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));
const { only, paths } = readArguments();
process.stdout.write(`Node ${process.versions.node}, temporary files in ${folder}\n`);
if (only.includes("checks")) await runChecks();
// What starts PostgreSQL for the tests runs in vitest's own process, which reads packages as they are built.
else await build();
const engines = await fetchEngines(projects.filter((project) => only.includes(project)));
for (const { projects: together, atATime } of sessions) {
  const chosen = together.filter((project) => only.includes(project));
  if (chosen.length > 0) await runProjects(chosen, { paths, atATime });
}
sumUp();

function readArguments() {
  const { values, positionals } = parseArgs({ options: { only: { type: "string" } }, allowPositionals: true });
  const chosen = values.only?.split(",") ?? (positionals.length > 0 ? groups.slice(1) : groups);
  const unknown = chosen.filter((name) => !groups.includes(name));
  if (unknown.length > 0) {
    process.stderr.write(`--only takes ${groups.join(", ")}, not ${unknown.join(", ")}\n`);
    process.exit(2);
  }
  return { only: chosen, paths: positionals };
}

async function runChecks() {
  const breakingBase = join(protos, "breaking-base.binpb");
  await check("format and lint", "biome", ["check", "--error-on-warnings", "--max-diagnostics=50", "."]);
  await check("types", "tsc", ["-b"]);
  await check("type-aware lint", "oxlint", ["--format=unix"]);
  await check("dead code", "knip", ["--no-progress", "--no-config-hints"]);
  await check("protos: lint", "buf", ["lint"], { cwd: protos });
  await check("protos: generated code is current", "buf", ["generate", "--output", scratch], {
    cwd: protos,
    inspect: compareGenerated,
  });
  if (existsSync(breakingBase)) {
    await check("protos: every promise is kept", "buf", ["breaking", "--against", breakingBase], { cwd: protos });
  }
}

async function build() {
  const { ok, output, seconds } = await runStep({
    title: "build",
    command: join(binaries, "tsc"),
    args: ["-b"],
    cwd: root,
    env: environment({}),
    limitSeconds: limitSeconds.check,
  });
  if (ok) return;
  report("build", { seconds, failed: 1 });
  total.failed.push("build");
  process.stdout.write(output);
}

/**
 * Runs one of the checks and counts it as a test.
 *
 * @param {string} name
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, limitSeconds?: number, inspect?: () => string }} [options] `inspect` looks at what a command that succeeded has left, and
 *   returns what is wrong with it
 */
async function check(name, command, args, { cwd = root, limitSeconds: seconds = limitSeconds.check, inspect } = {}) {
  const result = await runStep({
    title: name,
    command: join(binaries, command),
    args,
    cwd,
    env: environment({ BUF_CACHE_DIR: scratch }),
    limitSeconds: seconds,
  });
  const wrong = result.ok ? (inspect?.() ?? "") : result.output || "failed without a word";
  report(name, { seconds: result.seconds, failed: wrong === "" ? 0 : 1 });
  if (wrong === "") {
    total.passed += 1;
  } else {
    total.failed.push(name);
    process.stdout.write(`${firstLines(wrong, shownLines.check)}\n`);
  }
}

/** Compares what was generated into the scratch folder with what is committed. */
function compareGenerated() {
  const fresh = readTree(join(scratch, "gen"));
  const committed = readTree(join(protos, "gen"));
  const paths = [...new Set([...fresh.keys(), ...committed.keys()])].sort();
  const differing = paths.filter((path) => fresh.get(path) !== committed.get(path));
  if (differing.length === 0) return "";
  const lines = differing.map(
    (path) =>
      `  protos/gen/${path} ${committed.has(path) ? (fresh.has(path) ? "differs" : "has no source") : "is missing"}`,
  );
  return [
    "protos/gen is not what the .proto files generate: run `npm run generate` and commit the result.",
    ...lines,
  ].join("\n");
}

/** @param {string} folder */
function readTree(folder) {
  /** @type {Map<string, string>} */
  const files = new Map();
  if (!existsSync(folder)) return files;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) files.set(relative(folder, path), readFileSync(path, "utf8"));
  }
  return files;
}

/**
 * Fetches what the tests run against, before any test counts its seconds. Returns, of every engine that is needed, why it
 * is not there, or undefined.
 *
 * @param {readonly string[]} wanted
 * @returns {Promise<Map<import("./find-engines.mjs").Engine, string | undefined>>}
 */
async function fetchEngines(wanted) {
  /** @type {Map<import("./find-engines.mjs").Engine, string | undefined>} */
  const absences = new Map();
  for (const engine of new Set(wanted.flatMap((project) => needs[project] ?? []))) {
    const found = await findEngine(engine);
    absences.set(engine, found.available ? undefined : `${found.reason}. ${found.remedy}`);
  }
  const fetched = [...absences].filter(([engine, absence]) => engine !== "postgres" && absence === undefined);
  if (fetched.length > 0) {
    const names = fetched.map(([engine]) => engine);
    await check(`engines: ${names.join(", ")}`, "node", ["scripts/find-engines.mjs", ...names], {
      limitSeconds: limitSeconds.engines,
    });
  }
  return absences;
}

/**
 * @param {readonly string[]} chosen
 * @param {{ paths: readonly string[], atATime: number }} how
 */
async function runProjects(chosen, { paths, atATime }) {
  const ready = chosen.filter((project) => {
    const absent = (needs[project] ?? []).filter((engine) => engines.get(engine) !== undefined);
    if (absent.length > 0) skipOrFail(project, absent);
    return absent.length === 0;
  });
  if (ready.length === 0) return;
  const title = `${ready.join(", ")} tests`;
  const resultsFile = join(scratch, `${ready.join("-")}.json`);
  const result = await runStep({
    title,
    command: join(binaries, "vitest"),
    args: [
      "run",
      ...ready.flatMap((project) => ["--project", project]),
      `--maxWorkers=${atATime}`,
      "--passWithNoTests",
      "--reporter=default",
      "--reporter=./scripts/record-results.mjs",
      ...paths,
    ],
    cwd: root,
    env: environment({ RESULTS_FILE: resultsFile }),
    limitSeconds: limitSeconds.tests,
  });
  const results = readResults(resultsFile);
  if (!result.ok && results.failed.length === 0) results.failed.push(`${title}: vitest ended without saying why`);
  report(title, { seconds: result.seconds, passed: results.passed, failed: results.failed.length });
  if (results.failed.length > 0) {
    // Their names come first, at the beginning of a long output.
    process.stdout.write(`${results.failed.map((name) => `  ${name}`).join("\n")}\n`);
    process.stdout.write(`${lastLines(result.output, shownLines.tests)}\n`);
  }
  total.passed += results.passed;
  total.failed.push(...results.failed);
  total.skipped.push(...results.skipped);
}

/**
 * @param {string} file
 * @returns {import("./record-results.mjs").Results}
 */
function readResults(file) {
  if (!existsSync(file)) return { passed: 0, failed: [], skipped: [] };
  return /** @type {import("./record-results.mjs").Results} */ (JSON.parse(readFileSync(file, "utf8")));
}

/**
 * @param {string} project
 * @param {readonly import("./find-engines.mjs").Engine[]} absent
 */
function skipOrFail(project, absent) {
  const name = `${project} tests`;
  const reasons = absent.map((engine) => `${engine}: ${engines.get(engine)}`);
  const required = (process.env["REQUIRE"] ?? "").split(",").map((word) => word.trim());
  if (absent.some((engine) => required.includes(engine))) {
    report(name, { seconds: 0, failed: 1 });
    process.stdout.write(`${reasons.join("\n")}\n`);
    total.failed.push(name);
  } else {
    total.skipped.push({ name, reason: reasons.join("; ") });
  }
}

/**
 * Where the tests' engines store temporary files: in memory, if there is plenty. They wait for the disk for a
 * third of their time otherwise, and a disk that pauses for a second looks like a platform that does.
 */
function memoryFolder() {
  const shared = "/dev/shm";
  const gibibyte = 1024 ** 3;
  const inMemory = 0x01_02_19_94;
  if (process.env["TMPDIR"] !== undefined || !existsSync(shared)) return undefined;
  const { type, bavail, bsize } = statfsSync(shared);
  return type === inMemory && bavail * bsize > 6 * gibibyte && process.availableMemory() > 12 * gibibyte
    ? shared
    : undefined;
}

/** A killed run leaves its scratch folder behind, and no run takes half a day. Folders of other users stay. */
function removeLeftovers() {
  const before = Date.now() - 43_200_000;
  for (const name of readdirSync(folder).filter((entry) => entry.startsWith("tessera-npm-test-"))) {
    const path = join(folder, name);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.uid !== process.getuid?.() || found.mtimeMs >= before) continue;
    rmSync(path, { recursive: true, force: true });
  }
}

/** @param {NodeJS.ProcessEnv} more */
function environment(more) {
  const path = `${binaries}${delimiter}${process.env["PATH"] ?? ""}`;
  // Hundreds of processes start from the same sources; what the first ones compile the others read.
  const NODE_COMPILE_CACHE = join(root, "node_modules", ".cache", "tessera-compiled");
  return {
    ...process.env,
    PATH: path,
    TMPDIR: scratch,
    NO_COLOR: "1",
    FORCE_COLOR: undefined,
    NODE_COMPILE_CACHE,
    ...more,
  };
}

/**
 * @param {string} name
 * @param {{ seconds: number, passed?: number, failed: number }} outcome
 */
function report(name, { seconds, passed, failed }) {
  const counts = [
    passed === undefined ? "" : `${passed} passed`,
    failed > 0 && passed !== undefined ? `${failed} failed` : "",
  ];
  const words = counts.filter((count) => count !== "").join(", ");
  process.stdout.write(
    `${failed === 0 ? "ok  " : "FAIL"} ${name.padEnd(36)} ${seconds.toFixed(1).padStart(6)} s  ${words}`.trimEnd() +
      "\n",
  );
}

function sumUp() {
  const { passed, failed, skipped } = total;
  if (skipped.length > 0)
    process.stdout.write(["\nskipped:", ...skipped.map(({ name, reason }) => `  ${name}: ${reason}`), ""].join("\n"));
  if (failed.length > 0) process.stdout.write(["\nfailed:", ...failed.map((name) => `  ${name}`), ""].join("\n"));
  if (passed + failed.length + skipped.length === 0) process.stdout.write("\nno test ran\n");
  const counts = [
    `${passed} passed`,
    `${failed.length} failed`,
    ...(skipped.length > 0 ? [`${skipped.length} skipped`] : []),
  ];
  process.stdout.write(`\n${counts.join(", ")}\n`);
  process.exitCode = failed.length > 0 || passed === 0 ? 1 : 0;
}

/**
 * @param {string} text
 * @param {number} count
 */
function firstLines(text, count) {
  const lines = text.split("\n");
  return lines.length <= count
    ? text
    : [...lines.slice(0, count), `… and ${lines.length - count} more lines`].join("\n");
}

/**
 * @param {string} text
 * @param {number} count
 */
function lastLines(text, count) {
  const lines = text.split("\n");
  return lines.length <= count ? text : [`${lines.length - count} lines left out …`, ...lines.slice(-count)].join("\n");
}
