import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "@tessera/kit/config/config";
import { createLog, type Log } from "@tessera/kit/telemetry/log";
import { expect, it } from "vitest";
import { examinations } from "./examinations.ts";

const silent = createLog({ service: "test", destination: { write: () => {} } });
const none = () => Promise.reject(new Error("it is not needed"));

const printing = examinations.find(({ area }) => area === "printing");

async function examinePrinting(environment: Environment, log: Log = silent) {
  return (await printing?.examine({ environment, log, db: none, withFiles: none })) ?? [];
}

it("prints a page with the browser of this machine", async () => {
  const [finding, ...more] = await examinePrinting(process.env);
  expect(more).toEqual([]);
  expect(finding?.level).toBe("ok");
  expect(finding?.what).toMatch(/^the browser printed a page after \d+\.\d s/);
});

it("warns where a setting says that the browser prints without its sandbox", async () => {
  const [finding] = await examinePrinting({ ...process.env, BROWSER_SANDBOX: "off" });
  expect(finding).toMatchObject({
    level: "warning",
    what: expect.stringContaining("without its sandbox"),
    mend: expect.stringContaining("leave BROWSER_SANDBOX out"),
  });
});

it("names the setting where the browser does not start", async () => {
  await expect(examinePrinting({ CHROMIUM_PATH: "/nowhere/chromium" })).rejects.toMatchObject({
    cause: { message: "no Chromium starts here: /nowhere/chromium: spawn /nowhere/chromium ENOENT" },
  });
  expect(printing?.failure).toEqual({
    what: "no ticket can be printed",
    mend: expect.stringMatching(/user namespaces.*CHROMIUM_PATH/),
  });
});

it("says what a program wrote that is no browser, or misses a library", async () => {
  const folder = await mkdtemp(join(tmpdir(), "tessera-doctor-browser-"));
  const program = join(folder, "chromium");
  await chmod(folder, 0o755);
  await writeFile(program, "#!/bin/sh\necho error while loading shared libraries: libnss3.so >&2\nexit 127\n", {
    mode: 0o755,
  });
  const lines: string[] = [];
  const listening = createLog({ service: "test", destination: { write: (line) => void lines.push(line) } });
  const reason = `${program}: it ended at once (127): error while loading shared libraries: libnss3.so`;
  await expect(examinePrinting({ CHROMIUM_PATH: program }, listening)).rejects.toMatchObject({
    cause: { message: `no Chromium starts here: ${reason}` },
  });
  await rm(folder, { recursive: true });
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: "error", tried: [reason] });
});
