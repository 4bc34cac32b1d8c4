import { type ChildProcess, spawn } from "node:child_process";
import { getPriority } from "node:os";
import { afterEach, expect, it } from "vitest";
import { giveWayToGates } from "./give-way.ts";

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});

async function priorityOf(service: string): Promise<number> {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: "ignore" });
  started.push(child);
  const pid = child.pid ?? 0;
  await giveWayToGates(service, pid);
  return getPriority(pid);
}

it("a process of a service that no scan passes gives way to those of gateway and checkin", async () => {
  // Tests may run with a lower priority than that.
  for (const service of ["boxoffice", "voucher", "layout-and-render", "offline-sales", "shredder"])
    expect(await priorityOf(service), service).toBe(Math.max(7, getPriority()));
  for (const service of ["gateway", "checkin"]) expect(await priorityOf(service), service).toBe(getPriority());
});
