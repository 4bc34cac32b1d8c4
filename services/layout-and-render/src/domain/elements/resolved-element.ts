import type { BarcodeArea, ImageArea, PoweredBy, TextArea, TextContainer } from "./element.ts";

/** The language of a text, a BCP 47 tag, for the choice of fonts. */
interface Written {
  readonly value: string;
  readonly language: string;
}

/** A picture that answers a question. */
export interface AnswerImage {
  readonly position: number;
  readonly question: number;
}

/** An element with its values on one ticket: no variable is left. */
export type ResolvedElement =
  | (BarcodeArea & { readonly value: string })
  | (ImageArea & { readonly image: AnswerImage | null })
  | (TextArea & Written)
  | (TextContainer & Written)
  | PoweredBy;
