import type { Files } from "@tessera/kit/files/files";
import { create } from "content-disposition";
import { fault } from "../faults.ts";
import type { Reply } from "./route.ts";

export const pdf = "application/pdf";

/** A browser must not run what somebody has sent as a page of this host. */
export const neverAPage = { "Content-Security-Policy": "default-src 'none'; sandbox" } as const;

/** A file that browsers save under its name, and never show inside this host. */
export const asAttachment = (name: string) => ({ "Content-Disposition": create(name), ...neverAPage });

/** A file in the store, and how it is answered. */
export interface StoredAttachment {
  readonly key: string;
  readonly name: string;
  readonly type?: string;
  readonly signal: AbortSignal;
}

/** Answers a file from the store for files, a PDF unless said otherwise, piece by piece. */
export async function replyStored(
  files: Pick<Files, "get">,
  { key, name, type = pdf, signal }: StoredAttachment,
): Promise<Reply> {
  const stored = await files.get(key);
  if (stored === undefined) throw fault("not_found", "There is no such file, or it has expired.");
  const close = () => stored.content.destroy();
  signal.addEventListener("abort", close, { once: true });
  // The client may have left meanwhile.
  if (signal.aborted) close();
  const headers = { ...asAttachment(name), "Content-Length": String(stored.size) };
  return { status: 200, type, body: stored.content, headers };
}

export const fileShown = { description: "The file.", schema: { type: "string", format: "binary" } } as const;
