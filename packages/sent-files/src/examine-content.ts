import { parentPort } from "node:worker_threads";
import { checkImage, type Objection } from "./check-image.ts";
import type { FileType } from "./file-type.ts";

/** A file as it came: the type that its sender says it has, and its content. */
export interface SentContent {
  readonly type: FileType;
  readonly bytes: Uint8Array;
}

/** The messages of the thread about each file that it gets: that it begins, then its result. */
export type Finding = { readonly begins: true } | { readonly begins: false; readonly objection: Objection };

const report = (finding: Finding) => parentPort?.postMessage(finding);

async function examine({ type, bytes }: SentContent): Promise<void> {
  if (type === "application/pdf") {
    // Its parser takes a while to load; images do not wait for it.
    const { checkPdf } = await import("./check-pdf.ts");
    report({ begins: true });
    report({ begins: false, objection: await checkPdf(bytes) });
  } else {
    report({ begins: true });
    report({ begins: false, objection: checkImage(type, bytes) });
  }
}

parentPort?.on("message", (content: SentContent) => void examine(content));
