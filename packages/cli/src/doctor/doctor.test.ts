import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { doctor } from "./doctor.ts";

afterEach(() => {
  process.exitCode = undefined;
});

it.each([
  [["--frobnicate"], "Unknown option '--frobnicate'"],
  [["doorman"], "there is no service doorman"],
  [["all", "checkin"], "`all` stands alone"],
  [["--timeout", "0"], "--timeout takes whole seconds"],
  [["--health", "localhost:9090"], "--health takes addresses"],
])("%j is wrong usage, and nothing is examined", async (args, message) => {
  const said = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const printed = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  await doctor(args);
  expect(process.exitCode).toBe(2);
  expect(said).toHaveBeenCalledExactlyOnceWith(expect.stringContaining(message));
  expect(printed).not.toHaveBeenCalled();
});

it("[Y1.1] a named folder where nothing runs is status 1, and the folder of everyone who names none is not", async () => {
  for (const name of ["DATABASE_URL", "METRICS_PORT", "HTTP_PORT", "BASE_URL"]) vi.stubEnv(name, undefined);
  const folder = await mkdtemp(join(tmpdir(), "tessera-doctor-"));
  vi.spyOn(process, "cwd").mockReturnValue(folder);
  const printed = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    await doctor([]);
    expect(process.exitCode).toBe(0);
    await doctor(["--data", folder]);
    expect(process.exitCode).toBe(1);
    expect(printed).toHaveBeenLastCalledWith(expect.stringContaining("the platform of this folder does not run"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
