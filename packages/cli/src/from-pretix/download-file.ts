import { Fault } from "@tessera/kit/fault";
import { type Pretix, TooLarge } from "./ask-pretix.ts";

/** The default limit of pretix itself. */
export const mostFileBytes = 10 * 1024 * 1024;

export type Download =
  | { readonly ok: true; readonly type: string; readonly bytes: Buffer; readonly name: string | undefined }
  /** Transient: another run may get it. */
  | { readonly ok: false; readonly why: string; readonly isTransient: boolean };

/** Fetches a file. A missing file is a value: an import continues without it. */
export async function downloadFile(
  pretix: Pretix,
  url: URL,
  { withToken, mostBytes = mostFileBytes }: { withToken: boolean; mostBytes?: number },
): Promise<Download> {
  try {
    const answer = await pretix.ask(url, { mostBytes, withToken, tries: 3 });
    const { status } = answer;
    if (status !== 200)
      return { ok: false, why: `HTTP status ${status}`, isTransient: status !== 404 && status !== 410 };
    const type =
      /^[\w.+-]+\/[\w.+-]+/.exec(answer.headers.get("content-type") ?? "")?.[0] ?? "application/octet-stream";
    return {
      ok: true,
      type: type.toLowerCase(),
      bytes: answer.body,
      name: fileNameOf(answer.headers.get("content-disposition") ?? ""),
    };
  } catch (error) {
    if (error instanceof TooLarge) {
      return { ok: false, why: `more than ${Math.floor(mostBytes / 1024)} KiB`, isTransient: false };
    }
    // If pretix does not answer, the import ends, and the next run continues here. A failing file does not end it.
    const isFileOnly = error instanceof Fault && (error.code === "pretix_not_well" || url.origin !== pretix.origin);
    if (isFileOnly) return { ok: false, why: "it cannot be fetched", isTransient: true };
    throw error;
  }
}

/** Writes a file as records hold it. */
export function toDataUrl(type: string, bytes: Buffer): string {
  return `data:${type};base64,${bytes.toString("base64")}`;
}

function fileNameOf(disposition: string): string | undefined {
  const extended = /filename\*=(?:utf-8|UTF-8)''([^;]+)/.exec(disposition)?.[1];
  if (extended !== undefined) {
    try {
      return decodeURIComponent(extended);
    } catch {
      // Use the plain name.
    }
  }
  return /filename="([^"]+)"/.exec(disposition)?.[1] ?? /filename=([^;\s]+)/.exec(disposition)?.[1];
}
