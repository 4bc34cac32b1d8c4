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
