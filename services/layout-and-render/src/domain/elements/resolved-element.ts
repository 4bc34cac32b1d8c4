import type { BarcodeArea, ImageArea, PoweredBy, TextArea, TextContainer } from "./element.ts";

/** What a text is written in: a BCP 47 tag, for the choice of letters. */
interface Written {
  readonly value: string;
  readonly language: string;
}

/** A picture that answers a question. */
export interface AnswerImage {
  readonly position: number;
  readonly question: number;
}

/** An element with what it prints on one ticket: no variable is left in it. */
export type ResolvedElement =
  | (BarcodeArea & { readonly value: string })
  | (ImageArea & { readonly image: AnswerImage | null })
  | (TextArea & Written)
  | (TextContainer & Written)
  | PoweredBy;
