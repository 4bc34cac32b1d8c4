import { existsSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { compareGenerated } from "./compare-generated.mjs";
import { findEngine } from "./find-engines.mjs";
import { endStepsOnSignal, runStep } from "./run-step.mjs";
import { makeScratchFolder } from "./scratch-folder.mjs";

const usage = `npm test runs the checks, which run no code, then the tests, and prints one line with the counts.

  npm test                          all of it
  npm test -- packages/kit          only the tests whose path contains one of the words
  npm test -- --only=checks,unit    only these of: checks, unit, db, kafka, redis, s3, helm, e2e, cluster
  npm test -- --only=processes      e2e once more, on one process per service, for 20 minutes; not among the above
  npm run test:fire                 the gate under fire, for 40 minutes; not among the above
  npm run test:cluster              a Kubernetes on this machine, as root; not among the above
  npm run test:clients              clients in several languages, for 2 to 30 minutes; not among the above
`;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const protos = join(root, "protos");
const binaries = join(root, "node_modules", ".bin");
const scratch = makeScratchFolder();
/**
 * The engines that tests need; REQUIRE, a comma-separated list, makes a missing one a failure.
 *
 * @type {Readonly<Record<string, readonly import("./find-engines.mjs").Engine[]>>}
 */
const needs = {
  unit: [],
  db: ["postgres"],
  kafka: ["postgres", "kafka"],
  redis: ["redis"],
  s3: ["s3"],
  helm: ["helm"],
  e2e: ["postgres"],
  cluster: ["postgres", "kafka", "redis"],
  processes: ["postgres", "kafka", "redis"],
  fire: ["postgres", "kafka", "redis"],
  kubernetes: ["postgres", "kafka", "redis", "s3", "helm", "kubernetes"],
  clients: ["postgres", "clients"],
};
const projects = Object.keys(needs);
/**
 * The projects of one line run at the same time, with so many files at a time: tests of engines mostly wait, and unit
 * tests use that time. Other projects use the whole machine.
 *
 * @type {readonly { readonly projects: readonly string[], readonly atATime: number }[]}
 */
const sessions = [
  { projects: ["unit", "db", "kafka", "redis", "s3", "helm"], atATime: 3 },
  { projects: ["e2e", "cluster"], atATime: 2 },
  { projects: ["processes"], atATime: 1 },
  // Its faults take the whole machine, and its measurements are of one platform.
  { projects: ["fire"], atATime: 1 },
  { projects: ["kubernetes"], atATime: 1 },
  { projects: ["clients"], atATime: 1 },
];
/** These run only if they are named. */
const onRequest = ["processes", "fire", "kubernetes", "clients"];
const groups = ["checks", ...projects];
/** Enough for the slowest machine in use; a longer run hangs. */
const limitSeconds = { check: 300, engines: 900, tests: 3600, onRequest: 7200 };
/** How many lines of a failure are printed: the first of a check, the last of a test run. Ten failures stay readable. */
const shownLines = { check: 120, tests: 300 };

/** @type {import("./record-results.mjs").Results} */
const total = { passed: 0, failed: [], skipped: [] };

endStepsOnSignal();
const { only, paths } = readArguments();
process.stdout.write(`Node ${process.versions.node}, temporary files in ${dirname(scratch)}\n`);
const withChecks = only.includes("checks");
// What fetches and starts engines reads packages as they are built.
if (withChecks) await check("types", "tsc", ["-b"]);
else await build();
// Checks use the time in which engines come over the network.
const [engines] = await Promise.all([
  fetchEngines(projects.filter((project) => only.includes(project))),
  withChecks ? runOtherChecks() : undefined,
]);
for (const { projects: together, atATime } of sessions) {
  const chosen = together.filter((project) => only.includes(project));
  if (chosen.length > 0) await runProjects(chosen, { paths, atATime });
}
sumUp();

function readArguments() {
  const { values, positionals } = parseArguments();
  if (values.help) {
    process.stdout.write(usage);
    process.exit(0);
  }
  const chosen =
    values.only?.split(",") ??
    (positionals.length > 0 ? groups.slice(1) : groups).filter((name) => !onRequest.includes(name));
  const unknown = chosen.filter((name) => !groups.includes(name));
  if (unknown.length > 0) {
    process.stderr.write(`--only takes ${groups.join(", ")}, not ${unknown.join(", ")}\n`);
    process.exit(2);
  }
  return { only: chosen, paths: positionals };
}

function parseArguments() {
  const options = /** @type {const} */ ({ only: { type: "string" }, help: { type: "boolean", short: "h" } });
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    process.stderr.write(
      `${/** @type {Error} */ (error).message.split(".")[0]}; \`npm test -- --help\` lists the options\n`,
    );
    process.exit(2);
  }
}

async function runOtherChecks() {
  const breakingBase = join(protos, "breaking-base.binpb");
  await check("format and lint", "biome", ["check", "--error-on-warnings", "--max-diagnostics=50", "."]);
  await check("type-aware lint", "oxlint", ["--format=unix"]);
  await check("commit subjects", "node", [join(root, "scripts", "lint-subjects.mjs")]);
  await check("dead code", "knip", ["--no-progress", "--no-config-hints"]);
  await check("protos: lint", "buf", ["lint"], { cwd: protos });
  await check("protos: generated code is current", "buf", ["generate", "--output", scratch], {
    cwd: protos,
    inspect: () => compareGenerated({ fresh: join(scratch, "gen"), committed: join(protos, "gen") }),
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
 * @param {{ cwd?: string, limitSeconds?: number, inspect?: () => string }} [options] `inspect` checks the results of a command that succeeded, and
 *   returns what is wrong
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
  const wrong = result.ok ? (inspect?.() ?? "") : result.output || "failed without output";
  report(name, { seconds: result.seconds, failed: wrong === "" ? 0 : 1 });
  if (wrong === "") {
    total.passed += 1;
  } else {
    total.failed.push(name);
    process.stdout.write(`${firstLines(wrong, shownLines.check)}\n`);
  }
}

/**
 * Fetches the engines before any test measures its time. Returns for each why it is not available, or undefined.
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
      // Kubernetes is built from its sources.
      limitSeconds: names.includes("kubernetes") ? limitSeconds.onRequest : limitSeconds.engines,
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
  const isOnRequest = ready.some((project) => onRequest.includes(project));
  const resultsFile = join(scratch, `${ready.join("-")}.json`);
  const result = await runStep({
    title,
    command: join(binaries, "vitest"),
    args: [
      "run",
      ...ready.flatMap((project) => ["--project", project]),
      `--maxWorkers=${atATime}`,
      "--passWithNoTests",
      ...(isOnRequest ? ["--silent=false"] : []),
      "--reporter=default",
      "--reporter=./scripts/record-results.mjs",
      ...paths,
    ],
    cwd: root,
    env: environment({ RESULTS_FILE: resultsFile }),
    limitSeconds: isOnRequest ? limitSeconds.onRequest : limitSeconds.tests,
  });
  const results = readResults(resultsFile);
  if (!result.ok && results.failed.length === 0) results.failed.push(`${title}: vitest ended without a result`);
  report(title, { seconds: result.seconds, passed: results.passed, failed: results.failed.length });
  // Their names come before the long output.
  if (results.failed.length > 0) process.stdout.write(`${results.failed.map((name) => `  ${name}`).join("\n")}\n`);
  // Who asks for tests wants to know all that they have measured.
  if (isOnRequest) process.stdout.write(`${result.output}\n`);
  else if (results.failed.length > 0) process.stdout.write(`${lastLines(result.output, shownLines.tests)}\n`);
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

/** @param {NodeJS.ProcessEnv} more */
function environment(more) {
  const path = `${binaries}${delimiter}${process.env["PATH"] ?? ""}`;
  // Hundreds of processes start from the same sources, so they share the compiled code.
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
