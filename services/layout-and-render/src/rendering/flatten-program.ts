import { answerRequests } from "@tessera/kit/threads/answer-requests";
import { type FlatPdf, flattenPdf } from "@tessera/sent-files/flatten-pdf";

answerRequests<Uint8Array, FlatPdf>({ answer: flattenPdf });
