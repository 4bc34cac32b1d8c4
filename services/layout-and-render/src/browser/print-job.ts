/** A font that pages refer to by its family. */
export interface FontFace {
  /** Identifies the face. */
  readonly id: string;
  readonly family: string;
  readonly weight: string;
  readonly style: string;
  /** A CSS `unicode-range`. */
  readonly unicodeRange: string;
  /** The path of the font file. */
  readonly path: string;
}

/** A picture that pages refer to by its number. */
export interface PrintedImage {
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly pixels: number;
  /** In pixels: larger pictures are scaled down. */
  readonly mostWidth: number;
  readonly mostHeight: number;
}

/** Pages to print: HTML as `drawPage` of the domain makes it. */
export interface PrintJob {
  readonly html: string;
  readonly pages: number;
  /** The size of all pages, in CSS pixels, drawn ten times as large. */
  readonly width: number;
  readonly height: number;
  readonly fonts: readonly FontFace[];
  readonly images: readonly PrintedImage[];
}

export interface Printed {
  readonly pdf: Uint8Array;
  /** Marks of texts that do not fit their box even in the smallest size. */
  readonly misfits: readonly string[];
  /** Numbers of images that cannot be decoded. */
  readonly brokenImages: readonly number[];
}
