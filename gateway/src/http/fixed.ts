import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { acceptsCoding } from "./accepts.ts";
import type { Incoming, Reply } from "./route.ts";

/** An answer that stays the same while the process runs. */
export interface Fixed {
  readonly type: string;
  readonly tag: string;
  readonly plain: Buffer;
  /** The best first. */
  readonly compressed: readonly { readonly encoding: string; readonly body: Buffer }[];
}

/** Keeps an answer for all requests, compressed once. */
export async function fix(type: string, content: string | Buffer): Promise<Fixed> {
  const plain = Buffer.from(content);
  return { type, plain, compressed: [{ encoding: "gzip", body: await promisify(gzip)(plain) }], tag: tagOf(plain) };
}

/** The ETag: the SHA-256 of the content. */
export function tagOf(content: Buffer): string {
  return hash("sha256", content, "base64url");
}

/**
 * Sends the answer, unless the client has it cached. Clients always revalidate, so that a new release takes effect; `more` headers may
 * say otherwise.
 */
export function sendFixed(
  { type, plain, compressed, tag }: Fixed,
  request: Incoming,
  more: Readonly<Record<string, string>> = {},
): Reply {
  const accepted = request.header("Accept-Encoding");
  const sent = compressed.find(({ encoding }) => acceptsCoding(accepted, encoding));
  const ETag = `"${tag}${sent === undefined ? "" : `-${sent.encoding}`}"`;
  const usual = { "Cache-Control": "no-cache", Vary: "Accept, Accept-Encoding, Accept-Language" };
  const headers = { ...usual, ...more, ETag };
  const known = request.header("If-None-Match").split(",");
  if (known.some((each) => each.trim().replace(/^W\//, "") === ETag)) return { status: "notModified", headers };
  return sent === undefined
    ? { status: "ok", type, body: plain, headers }
    : { status: "ok", type, body: sent.body, headers: { ...headers, "Content-Encoding": sent.encoding } };
}
