import type { AnswerImage, ResolvedElement } from "../domain/elements/resolved-element.ts";

/** A background file, and a name that no other content ever has. */
export interface BackgroundFile {
  readonly id: string;
  /** The content, or a function that reads it. */
  readonly bytes: Uint8Array | (() => Promise<Uint8Array>);
}

export interface Ticket {
  readonly elements: readonly ResolvedElement[];
  /** Identifies the layout version. Undefined: slow layouts are not remembered. */
  readonly layout?: string;
  /** Null: the built-in A4 page. */
  readonly background: BackgroundFile | null;
}

export interface ImageFile {
  readonly type: "image/png" | "image/jpeg" | "image/gif";
  readonly bytes: Uint8Array;
}

/** Reads pictures of answers, in order: all, or the first ones, at least one; undefined: there is no such picture. */
export type ReadImages = (images: readonly AnswerImage[]) => Promise<readonly (ImageFile | undefined)[]>;

/** What could not be printed as the layout demands. */
export interface RenderWarning {
  /** The indexes of the ticket and of its element. */
  readonly ticket: number;
  readonly element: number;
  readonly code: "text_too_long" | "code_too_long" | "image_unreadable" | "letters_missing" | "too_many_pictures";
}
