import { describeCause } from "@tessera/kit/describe-cause";
import type { Log } from "@tessera/kit/log";
import { fault } from "../faults.ts";
import { type Chromium, startChromium } from "./chromium.ts";
import { type Candidate, findChromium, keepSystemFont } from "./find-chromium.ts";
import { createProfile } from "./profile.ts";

/** Starts a browser of this machine, and remembers which one ran and how. */
export function browserStarter({
  executable,
  log,
}: {
  readonly executable: string | undefined;
  readonly log: Log;
}): () => Promise<Chromium> {
  let known: { readonly candidate: Candidate; readonly isSandboxed: boolean } | undefined;
  return async () => {
    const fonts = await keepSystemFont();
    if (known !== undefined) return startOne(known.candidate, { fonts, isSandboxed: known.isSandboxed });
    const failures: string[] = [];
    for await (const candidate of findChromium(executable)) {
      for (const isSandboxed of [true, false]) {
        try {
          const chromium = await startOne(candidate, { fonts, isSandboxed });
          known = { candidate, isSandboxed };
          log[isSandboxed ? "info" : "warn"](
            isSandboxed
              ? "the browser for tickets runs"
              : "the browser for tickets runs without its sandbox, which this system does not permit: allow user namespaces to have it",
            { executable: candidate.executable },
          );
          return chromium;
        } catch (error) {
          failures.push(`${candidate.executable}: ${describeCause(error)}`);
        }
      }
    }
    throw fault(
      "browser_missing",
      `no Chromium starts here; set CHROMIUM_PATH to one that does.${failures.map((each) => `\n  ${each}`).join("")}`,
    );
  };
}

async function startOne(
  { executable, libraries }: Candidate,
  { fonts, isSandboxed }: { readonly fonts: string; readonly isSandboxed: boolean },
): Promise<Chromium> {
  const profile = await createProfile({ fonts, libraries });
  try {
    const chromium = await startChromium({ executable, profile, isSandboxed });
    void chromium.ended.then(() => profile.remove()).catch(() => undefined);
    return chromium;
  } catch (error) {
    await profile.remove();
    throw error;
  }
}
