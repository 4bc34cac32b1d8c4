import { writeFileSync } from "node:fs";

/**
 * The results of a run of vitest. The JSON of vitest lacks the reasons of skipped tests, and errors outside of tests.
 *
 * @typedef {{ passed: number, failed: string[], skipped: { name: string, reason: string }[] }} Results
 */

/** A vitest reporter that writes Results to the file named by RESULTS_FILE. */
export default class RecordResults {
  /**
   * @param {readonly import("vitest/node").TestModule[]} modules
   * @param {readonly import("vitest/node").SerializedError[]} strayErrors
   */
  onTestRunEnd(modules, strayErrors) {
    /** @type {Results} */
    const results = { passed: 0, failed: [], skipped: [] };
    for (const module of modules) recordModule(results, module);
    for (const error of strayErrors) results.failed.push(`an error outside every test: ${error.message}`);
    writeFileSync(String(process.env["RESULTS_FILE"]), JSON.stringify(results));
  }
}

/** @param {readonly import("vitest/node").SerializedError[] | undefined} errors */
function firstLine(errors) {
  return (errors?.[0]?.message ?? "no reason given").split("\n")[0]?.slice(0, 300);
}

/**
 * @param {Results} results
 * @param {import("vitest/node").TestModule} module
 */
function recordModule(results, module) {
  const before = results.failed.length;
  const unexplained = module.state() === "failed" ? "something around it failed" : "no reason given";
  for (const test of module.children.allTests()) {
    const name = `${module.relativeModuleId} > ${test.fullName}`;
    const result = test.result();
    if (result.state === "passed") results.passed += 1;
    else if (result.state === "skipped") results.skipped.push({ name, reason: result.note ?? unexplained });
    else results.failed.push(`${name}: ${firstLine(result.errors)}`);
  }
  // A file that cannot be loaded, a hook of several tests and a worker that dies fail without a failing test.
  for (const suite of [module, ...module.children.allSuites()]) {
    for (const error of suite.errors()) results.failed.push(`${module.relativeModuleId}: ${error.message}`);
  }
  const state = module.state();
  if (state !== "passed" && state !== "skipped" && results.failed.length === before) {
    results.failed.push(`${module.relativeModuleId} did not complete`);
  }
}
