import { answerRequests } from "@tessera/kit/threads/answer-requests";
import { checkImage } from "./check-image.ts";
import type { Examined } from "./examined.ts";
import type { FileType } from "./file-type.ts";

/** A file as it came: the type that its sender says it has, and its content. */
export interface SentContent {
  readonly type: FileType;
  readonly bytes: Uint8Array;
}

/** The parser of PDF takes a while to load; images do not wait for it. */
const loadPdfCheck = () => import("./check-pdf.ts");

answerRequests<SentContent, Examined>({
  load: ({ type }) => (type === "application/pdf" ? loadPdfCheck() : undefined),
  answer: async ({ type, bytes }) =>
    type === "application/pdf" ? (await loadPdfCheck()).checkPdf(bytes) : checkImage(type, bytes),
});
