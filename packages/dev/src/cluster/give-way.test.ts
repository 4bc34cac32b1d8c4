import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { afterEach, expect, it } from "vitest";
import { giveWayToGates } from "./give-way.ts";

const started: { kill(signal: "SIGKILL"): boolean }[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});

/** What a process of a service gets: its priority, and that of its session where Linux shares processors among sessions. */
async function prioritiesOf(service: string): Promise<readonly number[]> {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: "ignore" });
  started.push(child);
  const pid = child.pid ?? 0;
  await giveWayToGates(service, pid);
  const file = `/proc/${pid}/autogroup`;
  const ofSession = existsSync(file) ? /nice (-?\d+)/.exec(readFileSync(file, "utf8")) : null;
  return [getPriority(pid), ...(ofSession === null ? [] : [Number(ofSession[1])])];
}

it("a process of a service that no scan passes gives way to those of gateway and checkin", async () => {
  for (const service of ["boxoffice", "voucher", "layout-and-render", "offline-sales", "shredder"])
    expect(new Set(await prioritiesOf(service)), service).toEqual(new Set([7]));
  for (const service of ["gateway", "checkin"]) {
    const [ofProcess, ofSession = 0] = await prioritiesOf(service);
    expect([ofProcess, ofSession], service).toEqual([getPriority(), 0]);
  }
});
