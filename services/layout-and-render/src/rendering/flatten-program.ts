import { parentPort } from "node:worker_threads";
import { limitUnpacking } from "@tessera/sent-files/limit-unpacking";
import { flattenBackground, type PlainBackground } from "./prepare-background.ts";

/** The messages of the thread: that it can begin, then a result for each file that it gets. */
export type FlattenMessage =
  | { readonly kind: "ready" }
  | { readonly kind: "done"; readonly result: PlainBackground }
  | { readonly kind: "unusable"; readonly problem: string };

/** Large drawings have some megabytes. */
const mostUnpacked = 64 * 1024 * 1024;

const report = (message: FlattenMessage) => parentPort?.postMessage(message);

async function flatten(bytes: Uint8Array): Promise<void> {
  limitUnpacking(mostUnpacked);
  try {
    report({ kind: "done", result: await flattenBackground(bytes) });
  } catch (error) {
    report({ kind: "unusable", problem: error instanceof Error ? error.message : "it cannot be read" });
  }
}

parentPort?.on("message", (bytes: Uint8Array) => void flatten(bytes));
report({ kind: "ready" });
