import type { Log } from "@tessera/kit/telemetry/log";
import { fault } from "../faults.ts";
import { type Chromium, EndedAtOnce, startChromium } from "./chromium.ts";
import { type Candidate, findChromium, keepSystemFont } from "./find-chromium.ts";
import { createProfile } from "./profile.ts";

/** If a start takes longer, the machine is overloaded. */
const longestStartMs = 20_000;

export interface StarterOptions {
  readonly executable: string | undefined;
  /** `off` runs it without its sandbox: an exploit could read all that this account can, such as the environment. */
  readonly sandbox: "on" | "off";
  readonly log: Log;
  readonly maxMs?: number;
}

/** Starts a browser of this machine, and remembers which one worked. */
export function browserStarter({
  executable,
  sandbox,
  log,
  maxMs = longestStartMs,
}: StarterOptions): () => Promise<Chromium> {
  const isSandboxed = sandbox === "on";
  let known: Candidate | undefined;
  return async () => {
    const fonts = await keepSystemFont();
    if (known !== undefined) return startOne(known, { fonts, maxMs, isSandboxed });
    const failures = new Set<string>();
    let mayPass = false;
    for await (const candidate of findChromium(executable)) {
      try {
        const chromium = await startOne(candidate, { fonts, maxMs, isSandboxed });
        if (!mayPass) known = candidate;
        log[isSandboxed ? "info" : "warn"](
          isSandboxed
            ? "the browser for tickets runs"
            : "the browser for tickets runs without its sandbox, as BROWSER_SANDBOX says: permit user namespaces to have it",
          { executable: candidate.executable },
        );
        return chromium;
      } catch (error) {
        failures.add(`${candidate.executable}: ${describeFailure(error)}`);
        // On a less busy machine the best browser may start.
        mayPass ||= !(error instanceof EndedAtOnce);
      }
    }
    const tried = [...failures];
    log.error(
      isSandboxed
        ? "no Chromium starts here in its sandbox; permit user namespaces, or set CHROMIUM_PATH to one that starts"
        : "no Chromium starts here; set CHROMIUM_PATH to one that does",
      { tried },
    );
    // The client of a ticket learns nothing about this machine.
    throw fault("browser_missing", "Tickets cannot be printed now: no browser starts. Try again later.", {
      retryAfterMs: 30_000,
      cause: new Error(`no Chromium starts here: ${tried.join("; ") || "none was found"}`),
    });
  };
}

/** A browser that does not start has seen no ticket yet: its output may be logged. */
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
