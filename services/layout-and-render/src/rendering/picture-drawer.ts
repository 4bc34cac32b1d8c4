import type { Fault } from "@tessera/kit/fault";
import { programBeside, Thread, ThreadFailure } from "@tessera/kit/threads/thread";
import { Turns } from "@tessera/kit/waiting/turns";
import { fault } from "../faults.ts";
import type { Picture, PictureRequest, Undrawable } from "./draw-picture.ts";
import { SlowLayouts } from "./slow-layouts.ts";

export interface PictureLimits {
  readonly mostPixels: number;
  /** The timeout of a picture, including the start of its thread. */
  readonly maxMs: number;
  /** How long an idle thread is kept. */
  readonly idleMs: number;
  /** Concurrent pictures, each in its own thread, and at most one of each organizer. */
  readonly threads: number;
}

/** A page of A4 at 150 dots per inch has two million pixels, and takes a fifth of a second. */
const usualLimits: PictureLimits = { mostPixels: 25_000_000, maxMs: 8000, idleMs: 60_000, threads: 2 };

/** For a larger picture a fresh thread costs less than the memory it would keep. */
const largePixels = 9_000_000;

/** Draws pages of PDF as pictures. */
export interface PictureDrawer {
  readonly mostPixels: number;
  /** `layout` identifies what the page is printed by. */
  draw(request: WantedPicture, options: PictureOptions): Promise<Picture>;
  close(): Promise<void>;
}

interface WantedPicture extends Omit<PictureRequest, "mostPixels"> {
  readonly layout: string;
}

interface PictureOptions {
  /** The organizer, for fair turns. */
  readonly party: string;
  readonly signal?: AbortSignal | undefined;
}

const program = programBeside(import.meta.url, "draw-picture");

/** Draws pictures in worker threads, started by the first picture. */
export function openPictureDrawer({ mostPixels, maxMs, idleMs, threads }: PictureLimits = usualLimits): PictureDrawer {
  const turns = new Turns({
    ...{ total: threads, each: 1, queue: 8, waitMs: 10_000 },
    busy: () => fault("print_queue_full", "Too many pictures are being drawn. Try again.", { retryAfterMs: 2000 }),
  });
  const slow = new SlowLayouts();
  const all = Array.from(
    { length: threads },
    () => new Thread<PictureRequest, Picture>({ program, maxLoadMs: maxMs, idleMs }),
  );
  const free = [...all];

  async function draw(request: PictureRequest, signal: AbortSignal | undefined): Promise<Picture> {
    // There are as many threads as turns. The most recently used thread is warm.
    const thread = free.pop() as Thread<PictureRequest, Picture>;
    try {
      const picture = await thread.ask(request, { maxMs, signal });
      if (picture.kind === "picture" && picture.pixels > largePixels) await thread.end();
      return picture;
    } finally {
      free.push(thread);
    }
  }

  return {
    mostPixels,
    async close() {
      await Promise.all(all.map((thread) => thread.end()));
    },
    draw: ({ layout, ...request }, { party, signal }) =>
      turns.run({ party, amount: 1, signal }, async () => {
        if (slow.has(party, layout)) throw tooSlow();
        try {
          return await draw({ ...request, mostPixels }, signal);
        } catch (error) {
          if (error instanceof ThreadFailure && error.trouble === "too slow") slow.note(party, layout);
          throw explain(error);
        }
      }),
  };
}

function tooSlow(cause?: unknown): Fault {
  return fault("print_too_slow", "The picture takes too long to draw. Ask for fewer dots per inch.", { cause });
}

const undrawable =
  "The page cannot be drawn as a picture. Set another PDF as the background of the layout, use smaller pictures in it, or ask for fewer dots per inch.";

function explain(cause: unknown): unknown {
  const trouble = cause instanceof ThreadFailure ? cause.trouble : undefined;
  if (trouble === "late" || trouble === "too slow") return tooSlow(cause);
  if (cause instanceof ThreadFailure && isUndrawable(cause)) return fault("ticket_unprintable", undrawable, { cause });
  return trouble === "left" ? cause : new Error("a page could not be drawn as a picture", { cause });
}

function isUndrawable({ cause: thrown }: Error): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === ("undrawable" satisfies Undrawable);
}
