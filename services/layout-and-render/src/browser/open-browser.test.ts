import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { createLog } from "@tessera/kit/telemetry/log";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Candidate, findChromium } from "./find-chromium.ts";
import { browserStarter } from "./open-browser.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tessera-starts-"));
  // The browser may run as another user.
  await chmod(folder, 0o777);
});
afterEach(() => rm(folder, { recursive: true }));

/** Starts a command instead of a browser twice, and returns for each start whether it was sandboxed. */
async function startTwice(
  command: string,
  { maxMs = 20_000, sandbox = "on" }: { readonly maxMs?: number; readonly sandbox?: "on" | "off" } = {},
): Promise<boolean[]> {
  const executable = join(folder, "browser");
  const starts = join(folder, "starts");
  await rm(starts, { force: true });
  await writeFile(executable, `#!/bin/sh\necho "$*" >> ${starts}\n${command}\n`);
  await chmod(executable, 0o755);
  const log = createLog({
    service: "test",
    level: "error",
    destination: new Writable({ write: (_chunk, _encoding, done) => done() }),
  });
  const start = browserStarter({ executable, sandbox, log, maxMs });
  for (let time = 0; time < 2; time += 1) await expect(start()).rejects.toMatchObject({ code: "browser_missing" });
  const lines = (await readFile(starts, "utf8")).trim().split("\n");
  return lines.map((line) => !line.includes("--no-sandbox"));
}

describe("[L37.4] a browser", () => {
  it("is never started without its sandbox, whether it takes too long or ends at once", async () => {
    expect(await startTwice("exec sleep 60", { maxMs: 1500 })).toEqual([true, true]);
    expect(await startTwice("exit 1")).toEqual([true, true]);
  });

  it("is started without it where a setting says so", async () => {
    expect(await startTwice("exit 1", { sandbox: "off" })).toEqual([false, false]);
  });

  it("of this machine prints nothing where the system refuses the sandbox, and without it where a setting says so", async () => {
    const lines: string[] = [];
    const log = createLog({ service: "test", destination: { write: (line) => void lines.push(line) } });
    const executable = await keepNamespacesFrom(await findBrowser());
    const refused = browserStarter({ executable, sandbox: "on", log })();
    await expect(refused).rejects.toMatchObject({
      code: "browser_missing",
      message: expect.not.stringMatching(/sandbox/i),
    });
    expect(lines.join("")).toContain("permit user namespaces");
    const chromium = await browserStarter({ executable, sandbox: "off", log })();
    expect(chromium.isSandboxed).toBe(false);
    await chromium.kill();
  });
});

async function findBrowser(): Promise<Candidate> {
  for await (const candidate of findChromium(process.env["CHROMIUM_PATH"])) return candidate;
  throw new Error("this machine has no browser");
}

/** Wraps a browser so that it cannot create a user namespace, as in a container with the usual seccomp profile. */
async function keepNamespacesFrom({ executable }: Candidate): Promise<string> {
  const wrapped = join(folder, "chromium");
  // The one allowed namespace is that of the wrapper.
  const script = `echo 1 > /proc/sys/user/max_user_namespaces && exec unshare --user --map-user=1000 --map-group=1000 ${executable} "$@"`;
  await writeFile(wrapped, `#!/bin/sh\nexec unshare --user --map-root-user sh -c '${script}' chromium "$@"\n`);
  await chmod(wrapped, 0o755);
  return wrapped;
}
