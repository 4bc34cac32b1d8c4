#!/usr/bin/env node
// An older Node cannot even link the rest, which is loaded after this check.
const neededNode = 24;

if (Number(process.versions.node.split(".")[0]) < neededNode) {
  process.stderr.write(
    `tessera: this is Node ${process.versions.node}, and the platform runs with Node ${neededNode} or newer: a clone has it as node_modules/.bin/node\n`,
  );
  process.exitCode = 1;
} else {
  const { enableCompileCache } = await import("node:module");
  // Compiling takes half of a start, so processes share the result.
  enableCompileCache();
  const [{ runCommand }, { examples, verbs }] = await Promise.all([
    import("./command/run-verb.ts"),
    import("./verbs.ts"),
  ]);
  await runCommand("tessera", verbs, { examples });
}

export {};
