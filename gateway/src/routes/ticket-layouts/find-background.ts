import type { SentFile } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { SentBackground } from "@tessera/protos/gen/ticketing/layout/v1/layouts";
import type { Tenant } from "../../access/caller.ts";
import { fault } from "../../faults.ts";

export type FindUploads = (ids: readonly string[], caller: Tenant) => Promise<readonly SentFile[]>;

/** The largest background, in bytes. */
const mostBytes = 10 * 1024 * 1024;

/** Finds the upload that `background` names, as `file:…`; undefined: it names none. */
export async function findBackground(
  sent: string | null | undefined,
  { findUploads, caller }: { readonly findUploads: FindUploads; readonly caller: Tenant },
): Promise<SentBackground | undefined> {
  if (sent === null || sent === undefined) return undefined;
  const [found] = sent.startsWith("file:") ? await findUploads([sent.slice("file:".length)], caller) : [];
  if (found === undefined) throw refusal("You have sent no file of this id within a day.");
  const { upload, contentType, size, sha256 } = found;
  if (contentType !== "application/pdf") throw refusal("This file is no PDF, as a background has to be.");
  if (size > mostBytes) throw refusal("A background has at most 10 MiB, and this file has more.");
  return { upload, contentType, size, sha256 };
}

function refusal(message: string) {
  return fault("invalid_body", "some fields are not valid", { fields: { background: [message] } });
}
