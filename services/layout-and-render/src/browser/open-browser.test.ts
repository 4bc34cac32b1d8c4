import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { createLog } from "@tessera/kit/log";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { browserStarter } from "./open-browser.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tessera-starts-"));
  // The browser may run as another user.
  await chmod(folder, 0o777);
});
afterEach(() => rm(folder, { recursive: true }));

/** Starts something in place of a browser twice, and tells for each start of it whether that was in the sandbox. */
async function startTwice(command: string, maxMs: number): Promise<boolean[]> {
  const executable = join(folder, "browser");
  const starts = join(folder, "starts");
  await writeFile(executable, `#!/bin/sh\necho "$*" >> ${starts}\n${command}\n`);
  await chmod(executable, 0o755);
  const log = createLog({
    service: "test",
    level: "error",
    destination: new Writable({ write: (_chunk, _encoding, done) => done() }),
  });
  const start = browserStarter({ executable, log, maxMs });
  for (let time = 0; time < 2; time += 1) await expect(start()).rejects.toMatchObject({ code: "browser_missing" });
  const lines = (await readFile(starts, "utf8")).trim().split("\n");
  return lines.map((line) => !line.includes("--no-sandbox"));
}

describe("[L37.2] a browser", () => {
  it("that takes too long on a busy machine is not started without its sandbox", async () => {
    expect(await startTwice("exec sleep 60", 1500)).toEqual([true, true]);
  });

  it("that ends at once in its sandbox is started without it", async () => {
    expect(await startTwice("exit 1", 20_000)).toEqual([true, false, true, false]);
  });
});
