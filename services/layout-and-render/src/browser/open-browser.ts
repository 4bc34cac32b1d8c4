import type { Log } from "@tessera/kit/log";
import { fault } from "../faults.ts";
import { type Chromium, EndedAtOnce, startChromium } from "./chromium.ts";
import { type Candidate, findChromium, keepSystemFont } from "./find-chromium.ts";
import { createProfile } from "./profile.ts";

/** A machine where one takes longer is overloaded. */
const longestStartMs = 20_000;

/** Starts a browser of this machine, and remembers which one ran and how. */
export function browserStarter({
  executable,
  log,
  maxMs = longestStartMs,
}: {
  readonly executable: string | undefined;
  readonly log: Log;
  readonly maxMs?: number;
}): () => Promise<Chromium> {
  let known: { readonly candidate: Candidate; readonly isSandboxed: boolean } | undefined;
  return async () => {
    const fonts = await keepSystemFont();
    if (known !== undefined) return startOne(known.candidate, { fonts, maxMs, isSandboxed: known.isSandboxed });
    const failures = new Set<string>();
    let mayPass = false;
    for await (const candidate of findChromium(executable)) {
      for (const isSandboxed of [true, false]) {
        try {
          const chromium = await startOne(candidate, { fonts, maxMs, isSandboxed });
          if (!mayPass) known = { candidate, isSandboxed };
          log[isSandboxed ? "info" : "warn"](
            isSandboxed
              ? "the browser for tickets runs"
              : "the browser for tickets runs without its sandbox, which this system does not permit: allow user namespaces to have it",
            { executable: candidate.executable },
          );
          return chromium;
        } catch (error) {
          failures.add(`${candidate.executable}: ${describeFailure(error)}`);
          if (error instanceof EndedAtOnce) continue;
          // This says nothing of the sandbox, and on a machine that is less busy the best browser may start.
          mayPass = true;
          break;
        }
      }
    }
    const tried = [...failures];
    log.error("no Chromium starts here; set CHROMIUM_PATH to one that does", { tried });
    // Who asks for a ticket learns nothing of this machine.
    throw fault("browser_missing", "Tickets cannot be printed now: no browser starts. Try again later.", {
      retryAfterMs: 30_000,
      cause: new Error(`no Chromium starts here: ${tried.join("; ") || "none was found"}`),
    });
  };
}

/** A browser that does not start speaks of this machine, and knows no ticket yet: its text may be logged. */
function describeFailure(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, " ").trim();
}

async function startOne(
  { executable, libraries }: Candidate,
  { fonts, maxMs, isSandboxed }: { readonly fonts: string; readonly maxMs: number; readonly isSandboxed: boolean },
): Promise<Chromium> {
  const profile = await createProfile({ fonts, libraries });
  try {
    const chromium = await startChromium({ executable, profile, isSandboxed, maxMs });
    void chromium.ended.then(() => profile.remove()).catch(() => undefined);
    return chromium;
  } catch (error) {
    await profile.remove();
    throw error;
  }
}
