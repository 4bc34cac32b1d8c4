import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { runVerb, type Verbs } from "./run-verb.ts";

let printed: string;
let ran: string[][];
const verbs: Verbs = {
  serve: { summary: "serve all | NAME…: run it", load: async () => async (args) => void ran.push(args) },
  keys: { summary: "keys VERB: create keys", load: async () => async (args) => void ran.push(args) },
};

beforeEach(() => {
  printed = "";
  ran = [];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed += String(text);
    return true;
  });
});
afterEach(() => void vi.restoreAllMocks());

it.each([[[]], [["help"]], [["--help"]], [["-h"]]])("%j lists the verbs in columns, with examples", async (args) => {
  await runVerb("tessera", verbs, args, { examples: "  tessera serve all" });
  expect(printed).toBe(`tessera VERB [OPTIONS]

  serve all | NAME…  run it
  keys VERB          create keys

tessera VERB --help explains one.

  tessera serve all
`);
  expect(ran).toEqual([]);
});

it("explains a verb by `help VERB` as by `VERB --help`", async () => {
  await runVerb("tessera", verbs, ["help", "keys", "create"]);
  expect(ran).toEqual([["create", "--help"]]);
});

it("prints its version", async () => {
  await runVerb("tessera", verbs, ["--version"]);
  expect(printed).toMatch(/^tessera \d+\.\d+\.\d+( \(commit [\da-f]{12}\))?, Node \d+/);
});
