import { signal } from "@preact/signals";
import type { Decoded, Frame } from "./decode.worker.ts";

/** The decoder cannot run in this browser. */
export const isBlind = signal(false);

/** The part of the frame that is decoded, in both directions: the edges hold other things than the ticket. */
const centre = 0.8;

/** Larger pictures take longer, and show no more codes. */
const mostPixels = 960;

/** Every so many frames the decoder looks longer. */
const harderEvery = 5;

/** Decodes frames of a video one after the other, until it is stopped. */
export function watchForCodes(video: HTMLVideoElement, onCode: (code: string) => void): () => void {
  const worker = new Worker(new URL("./decode.worker.ts", import.meta.url), { type: "module", name: "decode" });
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  let isStopped = false;
  let frames = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function next(): void {
    if (isStopped) return;
    // Hidden pages get no frames, and need none.
    if (context === null || video.readyState < video.HAVE_CURRENT_DATA || video.videoWidth === 0) {
      timer = setTimeout(next, 100);
      return;
    }
    const pixels = cutOut(video, canvas, context);
    frames += 1;
    const frame: Frame = { pixels, tryHarder: frames % harderEvery === 0 };
    worker.postMessage(frame, [pixels.data.buffer]);
  }

  worker.addEventListener("message", ({ data }: MessageEvent<Decoded>) => {
    if (isStopped) return;
    if (data.failed === true) isBlind.value = true;
    else if (data.code !== undefined) onCode(data.code);
    timer = setTimeout(next, data.failed === true ? 2000 : 30);
  });
  worker.addEventListener("error", () => {
    isBlind.value = true;
  });
  next();
  return () => {
    isStopped = true;
    clearTimeout(timer);
    worker.terminate();
  };
}

function cutOut(video: HTMLVideoElement, canvas: HTMLCanvasElement, context: CanvasRenderingContext2D): ImageData {
  const [width, height] = [video.videoWidth * centre, video.videoHeight * centre];
  const scale = Math.min(1, mostPixels / Math.max(width, height));
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const [left, top] = [(video.videoWidth - width) / 2, (video.videoHeight - height) / 2];
  context.drawImage(video, left, top, width, height, 0, 0, canvas.width, canvas.height);
  return context.getImageData(0, 0, canvas.width, canvas.height);
}
