/** What an examination says of a file. */
export type Examined =
  /** It is taken: what was written of it, or, where that is undefined, as it is. */
  | { readonly ok: true; readonly rewritten: Uint8Array | undefined }
  /** It is not taken, and why, as text for its sender. */
  | { readonly ok: false; readonly objection: string };
