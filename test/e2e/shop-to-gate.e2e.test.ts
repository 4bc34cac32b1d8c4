import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import getPort from "get-port";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type RunningCommand, runCommand } from "./command.ts";
import { runCommands } from "./follow-page.ts";
import { commandBlocks, putIn, readPage, shows } from "./read-page.ts";

const operatorKey = "operator-key-of-the-pages-0123456789";
const main = fileURLToPath(import.meta.resolve("@tessera/cli/main"));
const tessera = `tessera() { '${process.execPath}' --conditions=source --disable-warning=ExperimentalWarning '${main}' "$@"; }`;

let directory: string;
let platform: RunningCommand | undefined;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-pages-"));
  // As root the database has an account of its own, which must get to the folder.
  await chmod(directory, 0o755);
});
afterEach(async () => {
  platform?.process.kill("SIGTERM");
  await platform?.ended;
  await rm(directory, { recursive: true, force: true });
});

it("docs/shop-to-gate.md and docs/print-and-erase.md, followed as they are written, lead to the gate and to the end", async () => {
  const page = await readPage("shop-to-gate.md");
  const further = commandBlocks(await readPage("print-and-erase.md"));
  const port = await getPort({ host: "127.0.0.1" });
  const baseUrl = `http://127.0.0.1:${port}`;
  const [first, ...begun] = commandBlocks(page);
  const blocks = [...begun, ...further];
  expect(first?.commands.trim()).toBe("npm start -- --no-demo --data .tessera/shop");
  platform = runCommand(["serve", "all", "--port", String(port), "--data", join(directory, "data")], {
    TESSERA_OPERATOR_KEY: operatorKey,
    BASE_URL: baseUrl,
  });
  await platform.printed("Ctrl-C stops it.");
  const script = putIn(blocks.map(({ commands }, index) => `${commands}\necho "@@${index}@@"`).join("\n"), {
    'tessera() { npm run --silent tessera -- "$@"; }': tessera,
    "BASE_URL=http://localhost:8000": `BASE_URL=${baseUrl}`,
    "TESSERA_OPERATOR_KEY=…": `TESSERA_OPERATOR_KEY=${operatorKey}`,
  });
  const outputs = (await runCommands(script, { cwd: directory })).split(/@@\d+@@\n/);
  const told = blocks.map(({ commands, printed }, index) => ({ commands, printed, output: outputs[index] ?? "" }));
  const different = told.filter(({ printed, output }) => printed !== undefined && !shows(output, printed));
  expect(different).toEqual([]);
  expect(told.filter(({ printed }) => printed !== undefined).length).toBeGreaterThan(17);
});
