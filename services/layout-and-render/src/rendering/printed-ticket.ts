import type { AnswerImage, ResolvedElement } from "../domain/elements/resolved-element.ts";

/** A background file, and a name that no other content ever has. */
export interface BackgroundFile {
  readonly id: string;
  /** Its content, or how to read it. */
  readonly bytes: Uint8Array | (() => Promise<Uint8Array>);
}

/** One ticket: what its layout prints on it. */
export interface Ticket {
  readonly elements: readonly ResolvedElement[];
  /** Names what it is printed by: another layout has another name. Left out: nothing is remembered of it. */
  readonly layout?: string;
  /** Null: the built-in A4 page. */
  readonly background: BackgroundFile | null;
}

export interface ImageFile {
  readonly type: "image/png" | "image/jpeg" | "image/gif";
  readonly bytes: Uint8Array;
}

/** Reads pictures that answer questions, in order: all, or the first ones, one at least; undefined: there is no such picture. */
export type ReadImages = (images: readonly AnswerImage[]) => Promise<readonly (ImageFile | undefined)[]>;

/** What could not be printed as the layout wants it. */
export interface RenderWarning {
  /** Which ticket, and which of its elements, from 0. */
  readonly ticket: number;
  readonly element: number;
  readonly code: "text_too_long" | "code_too_long" | "image_unreadable" | "letters_missing" | "too_many_pictures";
}
