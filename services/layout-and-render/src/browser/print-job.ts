/** A font that pages refer to by its family. */
export interface FontFace {
  /** Tells faces apart. */
  readonly id: string;
  readonly family: string;
  readonly weight: string;
  readonly style: string;
  /** As in CSS. */
  readonly unicodeRange: string;
  /** Where its file is. */
  readonly path: string;
}

/** A picture that pages refer to by its number. */
export interface PrintedImage {
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly pixels: number;
  /** In pixels: larger ones are made smaller. */
  readonly mostWidth: number;
  readonly mostHeight: number;
}

/** Pages to print: HTML as `drawPage` of the domain makes it. */
export interface PrintJob {
  readonly html: string;
  readonly pages: number;
  /** Of all pages, in CSS pixels; they are drawn ten times as large. */
  readonly width: number;
  readonly height: number;
  readonly fonts: readonly FontFace[];
  readonly images: readonly PrintedImage[];
}

export interface Printed {
  readonly pdf: Uint8Array;
  /** Marks of texts that do not fit their box even in the smallest letters. */
  readonly misfits: readonly string[];
  /** Numbers of images that cannot be decoded. */
  readonly brokenImages: readonly number[];
}
