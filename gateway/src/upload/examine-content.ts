import { parentPort, workerData } from "node:worker_threads";
import { checkImage, type Objection } from "./check-image.ts";
import type { FileType } from "./file-type.ts";

/** What a thread is given to examine. */
export interface Examination {
  readonly type: FileType;
  readonly bytes: Uint8Array;
}

/** What a thread tells: that it begins, and what it found. */
export type Finding = { readonly begins: true } | { readonly begins: false; readonly objection: Objection };

const { type, bytes } = workerData as Examination;
const tell = (finding: Finding) => parentPort?.postMessage(finding);

if (type === "application/pdf") {
  // Its parser takes a while to load; images do not wait for it.
  const { checkPdf } = await import("./check-pdf.ts");
  tell({ begins: true });
  tell({ begins: false, objection: await checkPdf(bytes) });
} else {
  tell({ begins: true });
  tell({ begins: false, objection: checkImage(type, bytes) });
}
