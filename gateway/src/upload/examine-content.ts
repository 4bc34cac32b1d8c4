import { parentPort, workerData } from "node:worker_threads";
import { checkImage, type Objection } from "./check-image.ts";
import type { FileType } from "./file-type.ts";

/** The input of the thread. */
export interface Examination {
  readonly type: FileType;
  readonly bytes: Uint8Array;
}

/** The messages of the thread: that it begins, then its result. */
export type Finding = { readonly begins: true } | { readonly begins: false; readonly objection: Objection };

const { type, bytes } = workerData as Examination;
const report = (finding: Finding) => parentPort?.postMessage(finding);

if (type === "application/pdf") {
  // Its parser takes a while to load; images do not wait for it.
  const { checkPdf } = await import("./check-pdf.ts");
  report({ begins: true });
  report({ begins: false, objection: await checkPdf(bytes) });
} else {
  report({ begins: true });
  report({ begins: false, objection: checkImage(type, bytes) });
}
