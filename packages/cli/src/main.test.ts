import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const main = fileURLToPath(new URL("./main.ts", import.meta.url));

it("the command says which Node it needs to an older one, which cannot link its modules", async () => {
  const asOlderNode = `Object.defineProperty(process.versions, "node", { value: "20.20.2" }); await import(${JSON.stringify(main)})`;
  const { stderr } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", asOlderNode]).then(
    () => ({ stderr: "" }),
    (error: unknown) => error as { stderr: string },
  );
  expect(stderr).toMatch(/^tessera: this is Node 20\.20\.2, and the platform runs with Node 24 or newer: .*\n$/);
});
