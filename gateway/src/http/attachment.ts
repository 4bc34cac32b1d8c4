import type { Files } from "@tessera/kit/files/files";
import { create } from "content-disposition";
import { fault } from "../faults.ts";
import type { Reply } from "./route.ts";

export const pdf = "application/pdf";

/** A browser must not run what somebody has sent as a page of this host. */
export const neverAPage = { "Content-Security-Policy": "default-src 'none'; sandbox" } as const;

/** A file that browsers save under its name, and never show inside this host. */
export const asAttachment = (name: string) => ({ "Content-Disposition": create(name), ...neverAPage });

/** Answers a PDF from the store for files, piece by piece. */
export async function replyStoredPdf(
  files: Pick<Files, "get">,
  { key, name, signal }: { readonly key: string; readonly name: string; readonly signal: AbortSignal },
): Promise<Reply> {
  const stored = await files.get(key);
  if (stored === undefined) throw fault("not_found", "There is no such file, or it has expired.");
  const close = () => stored.content.destroy();
  signal.addEventListener("abort", close, { once: true });
  // The client may have left meanwhile.
  if (signal.aborted) close();
  const headers = { ...asAttachment(name), "Content-Length": String(stored.size) };
  return { status: 200, type: pdf, body: stored.content, headers };
}

export const fileShown = { description: "The file.", schema: { type: "string", format: "binary" } } as const;
