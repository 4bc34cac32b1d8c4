import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "@tessera/kit/telemetry/log";
import { expect, it } from "vitest";
import { examinePrinting } from "./examine-printing.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });

it("prints a page with the browser of this machine", async () => {
  const [finding, ...more] = await examinePrinting({ environment: process.env, log });
  expect(more).toEqual([]);
  expect(finding?.level).toBe("ok");
  expect(finding?.what).toMatch(/^the browser printed a page after \d+\.\d s/);
});

it("warns where a setting says that the browser prints without its sandbox", async () => {
  const [finding] = await examinePrinting({ environment: { ...process.env, BROWSER_SANDBOX: "off" }, log });
  expect(finding).toMatchObject({
    level: "warning",
    what: expect.stringContaining("without its sandbox"),
    mend: expect.stringContaining("leave BROWSER_SANDBOX out"),
  });
});

it("names the setting where the browser does not start", async () => {
  expect(await examinePrinting({ environment: { CHROMIUM_PATH: "/nowhere/chromium" }, log })).toEqual([
    {
      level: "wrong",
      what: "no ticket can be printed",
      why: "no Chromium starts here: /nowhere/chromium: spawn /nowhere/chromium ENOENT",
      mend: expect.stringMatching(/user namespaces.*CHROMIUM_PATH/),
    },
  ]);
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
  const [finding] = await examinePrinting({ environment: { CHROMIUM_PATH: program }, log: listening });
  await rm(folder, { recursive: true });
  const reason = `${program}: it ended at once (127): error while loading shared libraries: libnss3.so`;
  expect(finding).toMatchObject({
    level: "wrong",
    what: "no ticket can be printed",
    why: `no Chromium starts here: ${reason}`,
  });
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: "error", tried: [reason] });
});
