import { Fault } from "@tessera/kit/fault";
import { Turns } from "@tessera/kit/waiting/turns";
import { type FlatPdf, flattenPdf } from "@tessera/sent-files/flatten-pdf";
import { fault } from "../faults.ts";
import { drawDefaultBackground } from "./default-background.ts";
import { openFlattener, overloaded, type PrepareBackground, waitMs, wasTooSlow } from "./flatten-in-thread.ts";
import type { BackgroundFile } from "./printed-ticket.ts";

/** The page of tickets without a background of their own. */
export const builtIn = "built-in";

/** A prepared background with a unique name. */
export interface NamedBackground extends FlatPdf {
  readonly name: string;
}

/** An LRU cache of prepared backgrounds. */
export interface BackgroundCache {
  /** `party` is the organizer, for fair turns. */
  prepare(file: BackgroundFile | typeof builtIn, party: string): Promise<NamedBackground>;
}

/** In bytes, and in number: a background being prepared has no size yet. */
const mostBytes = 64 * 1024 * 1024;

/** The size that a cached failure counts as: a thousandth of the cache. */
const failureBytes = mostBytes / 1000;

/** A background that timed out is not tried again for this long: each try occupies a thread. */
const usualSlowMs = 60_000;

/** After this long without a print the cache is emptied, as the browser is ended: an idle platform keeps no memory. */
const usualIdleMs = 300_000;

/** Backgrounds of one organizer that are read and held for preparation: each may have ten megabytes. */
const mostOfEach = 4;

export function openBackgroundCache({
  flatten = openFlattener(),
  slowMs = usualSlowMs,
  idleMs = usualIdleMs,
}: {
  readonly flatten?: PrepareBackground;
  readonly slowMs?: number;
  readonly idleMs?: number;
} = {}): BackgroundCache {
  const kept = new Map<string, { readonly prepared: Promise<NamedBackground>; size: number }>();
  let idle: NodeJS.Timeout | undefined;
  const readings = new Turns({ total: Number.POSITIVE_INFINITY, each: mostOfEach, waitMs, busy: overloaded });

  async function prepareNew(file: BackgroundFile | typeof builtIn, party: string): Promise<FlatPdf> {
    if (file === builtIn) return flattenPdf(await drawDefaultBackground());
    return readings.run({ party, amount: 1 }, async () =>
      flatten(typeof file.bytes === "function" ? await file.bytes() : file.bytes, party),
    );
  }

  function forgetOldest(): void {
    let sum = 0;
    for (const [id, { size }] of [...kept].reverse()) {
      sum += size;
      if (sum > mostBytes) kept.delete(id);
    }
  }

  return {
    prepare(file, party) {
      clearTimeout(idle);
      idle = setTimeout(() => kept.clear(), idleMs).unref();
      const id = file === builtIn ? builtIn : `file ${file.id}`;
      const known = kept.get(id);
      if (known !== undefined) {
        // Reinserted: the least recently used entry is the first.
        kept.delete(id);
        kept.set(id, known);
        return known.prepared;
      }
      const preparing = prepareNew(file, party);
      const prepared = preparing.then((fresh) => ({ ...fresh, name: id }), refuse);
      const entry = { prepared, size: 0 };
      kept.set(id, entry);
      void preparing.then(
        ({ size }) => {
          entry.size = size;
          forgetOldest();
        },
        (error: unknown) => {
          const forget = () => {
            if (kept.get(id) === entry) kept.delete(id);
          };
          // Failures are cached: an unreadable file stays unreadable, and a timeout is likely to repeat.
          if (wasTooSlow(error)) setTimeout(forget, slowMs).unref();
          else if (!(error instanceof Fault && error.code === "background_unusable")) forget();
          entry.size = failureBytes;
          forgetOldest();
        },
      );
      return prepared;
    },
  };
}

function refuse(cause: unknown): never {
  if (!wasTooSlow(cause)) throw cause;
  const message = "The background takes too long to be prepared. Try again later, or set a simpler PDF.";
  throw fault("background_overloaded", message, { cause, retryAfterMs: usualSlowMs });
}
