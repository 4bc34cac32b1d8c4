import type { ImageArea } from "../elements/element.ts";
import type { PlainJpeg } from "./plain-jpeg.ts";

/** A picture with its place: millimetres from the lower left corner of the page. */
export interface PlacedPicture {
  readonly jpeg: PlainJpeg;
  readonly left: number;
  readonly bottom: number;
  readonly width: number;
  readonly height: number;
}

/** Fits a picture into its box, centered, in its own proportions. */
export function placePicture({ left, bottom, width, height }: ImageArea, jpeg: PlainJpeg): PlacedPicture {
  const scale = Math.min(width / jpeg.width, height / jpeg.height);
  const [drawnWidth, drawnHeight] = [jpeg.width * scale, jpeg.height * scale];
  return {
    jpeg,
    left: left + (width - drawnWidth) / 2,
    bottom: bottom + (height - drawnHeight) / 2,
    width: drawnWidth,
    height: drawnHeight,
  };
}
