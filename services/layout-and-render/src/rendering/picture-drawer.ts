import { programBeside, Thread, ThreadFailure } from "@tessera/kit/threads/thread";
import { Turns } from "@tessera/kit/turns";
import { fault } from "../faults.ts";
import type { Picture, PictureRequest, Undrawable } from "./draw-picture.ts";

export interface PictureLimits {
  readonly mostPixels: number;
  /** How long one may take, and the start of the thread before it. */
  readonly maxMs: number;
  /** How long the thread is kept for the next one. */
  readonly idleMs: number;
}

/** A page of A4 at 150 dots per inch has two million pixels, and takes a fifth of a second. */
const usualLimits: PictureLimits = { mostPixels: 25_000_000, maxMs: 8000, idleMs: 60_000 };

/** Beyond this the memory of a picture is worth a new thread. */
const largePixels = 9_000_000;

/** Draws pages of PDF as pictures. */
export interface PictureDrawer {
  readonly mostPixels: number;
  draw(request: Omit<PictureRequest, "mostPixels">, options: PictureOptions): Promise<Picture>;
  close(): Promise<void>;
}

interface PictureOptions {
  /** Who shares the thread with others: the organizer. */
  readonly party: string;
  readonly signal?: AbortSignal | undefined;
}

const program = programBeside(import.meta.url, "draw-picture");

/** Draws one picture at a time, in a thread of its own. Opening it costs nothing until the first one. */
export function openPictureDrawer({ mostPixels, maxMs, idleMs }: PictureLimits = usualLimits): PictureDrawer {
  const turns = new Turns({
    ...{ total: 1, each: 1, queue: 8, waitMs: 10_000 },
    busy: () => fault("print_queue_full", "Too many pictures are being drawn. Try again.", { retryAfterMs: 2000 }),
  });
  const thread = new Thread<PictureRequest, Picture>({ program, maxLoadMs: maxMs, idleMs });

  async function draw(request: PictureRequest, signal: AbortSignal | undefined): Promise<Picture> {
    const picture = await thread.ask(request, { maxMs, signal }).catch(explain);
    if (picture.kind === "picture" && picture.pixels > largePixels) await thread.end();
    return picture;
  }

  return {
    mostPixels,
    close: () => thread.end(),
    draw: (request, { party, signal }) =>
      turns.run({ party, amount: 1, signal }, () => draw({ ...request, mostPixels }, signal)),
  };
}

const undrawable =
  "The page cannot be drawn as a picture. Set another PDF as the background of the layout, use smaller pictures in it, or ask for fewer dots per inch.";

function explain(cause: unknown): never {
  const trouble = cause instanceof ThreadFailure ? cause.trouble : undefined;
  if (trouble === "late" || trouble === "too slow")
    throw fault("print_too_slow", "The picture takes too long to draw. Ask for fewer dots per inch.", { cause });
  if (cause instanceof ThreadFailure && isUndrawable(cause)) throw fault("ticket_unprintable", undrawable, { cause });
  throw trouble === "left" ? cause : new Error("a page could not be drawn as a picture", { cause });
}

function isUndrawable({ cause: thrown }: Error): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === ("undrawable" satisfies Undrawable);
}
