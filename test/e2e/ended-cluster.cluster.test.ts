import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCommand } from "./command.ts";
import { findFirstPort } from "./find-ports.ts";
import { type NpmCommand, runNpm } from "./run-npm.ts";

let directory: string;
let data: readonly string[];
let started: NpmCommand | undefined;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-cluster-"));
  await chmod(directory, 0o755);
  data = ["--data", join(directory, "data")];
});
afterEach(async () => {
  await started?.end();
  await rm(directory, { recursive: true, force: true });
});

describe("npm run cluster", () => {
  it("is found by the commands beside it, and leaves no process behind at Ctrl-C", async () => {
    const port = await findFirstPort();
    started = runNpm("npm run cluster", [...data, "--port", String(port), "--no-demo"]);
    await started.printed("Ctrl-C stops them.");
    const status = await runCommand(["status", ...data]).ended;
    expect(status).toMatchObject({ code: 0, stderr: "" });
    expect(status.stdout).toContain(`http://127.0.0.1:${port}/docs`);
    for (const name of ["boxoffice-1", "checkin-1", "checkin-2", "gateway-1", "gateway-2", "voucher-1"])
      expect(status.stdout).toMatch(new RegExp(`^ +${name} +ready +http://localhost:\\d+/readyz`, "m"));
    const all = (await started.processes()).map(({ args }) => args);
    for (const part of ["kafka.Kafka", " serve checkin", "postgres -D"])
      expect(all).toContainEqual(expect.stringContaining(part));
    expect(await started.interrupt("SIGINT")).toEqual([]);
  });
});
