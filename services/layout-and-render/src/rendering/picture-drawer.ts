import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { Turns } from "@tessera/kit/turns";
import { fault } from "../faults.ts";
import type { Picture, PictureRequest } from "./draw-picture.ts";

export interface PictureLimits {
  readonly mostPixels: number;
  /** How long one may take, with the start of the thread. */
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

/** After a build, too, this file and the thread's have the same extension. */
const program = new URL(`draw-picture${extname(import.meta.url)}`, import.meta.url);

/** Draws one picture at a time, in a thread of its own. Opening it costs nothing until the first one. */
export function openPictureDrawer(limits: PictureLimits = usualLimits): PictureDrawer {
  const turns = new Turns({
    ...{ total: 1, each: 1, queue: 8, waitMs: 10_000 },
    busy: () => fault("print_queue_full", "Too many pictures are being drawn. Try again.", { retryAfterMs: 2000 }),
  });
  let thread: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;

  async function close(): Promise<void> {
    clearTimeout(idle);
    const ended = thread;
    thread = undefined;
    await ended?.terminate();
  }

  async function draw(request: PictureRequest, signal: AbortSignal | undefined): Promise<Picture> {
    signal?.throwIfAborted();
    clearTimeout(idle);
    // What a parser writes must not reach the log.
    const worker = thread ?? new Worker(program, { stdout: true, stderr: true });
    thread = worker;
    try {
      const picture = await answerOf(worker, request, { signal, maxMs: limits.maxMs });
      if (picture.kind === "picture" && picture.pixels > largePixels) await close();
      else idle = setTimeout(() => void close(), limits.idleMs).unref();
      return picture;
    } catch (error) {
      await close();
      throw error;
    }
  }

  return {
    mostPixels: limits.mostPixels,
    close,
    draw: (request, { party, signal }) =>
      turns.run({ party, amount: 1, signal }, () => draw({ ...request, mostPixels: limits.mostPixels }, signal)),
  };
}

function answerOf(
  worker: Worker,
  request: PictureRequest,
  { signal, maxMs }: { readonly signal: AbortSignal | undefined; readonly maxMs: number },
): Promise<Picture> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      worker.off("error", onError).off("exit", onExit).off("message", onPicture);
    };
    const fail = (error: Error) => {
      settle();
      reject(error);
    };
    const onAbort = () => fail(new Error("the client left before its picture was drawn", { cause: signal?.reason }));
    const onError = (cause: unknown) => fail(new Error("a page could not be drawn as a picture", { cause }));
    const onExit = () => fail(new Error("the thread of pictures ended without a picture"));
    const onPicture = (picture: Picture) => {
      settle();
      resolve(picture);
    };
    const tooSlow = () => fault("print_too_slow", "The picture takes too long to draw. Ask for fewer dots per inch.");
    const timer = setTimeout(() => fail(tooSlow()), maxMs);
    signal?.addEventListener("abort", onAbort);
    worker.on("error", onError).on("exit", onExit).on("message", onPicture);
    worker.postMessage(request);
  });
}
