import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Incoming, Reply } from "./route.ts";

/** An answer that stays the same while the process runs. */
export interface Fixed {
  readonly type: string;
  readonly plain: Buffer;
  readonly zipped: Buffer;
  readonly tag: string;
}

/** Keeps an answer for all requests, compressed once. */
export async function fix(type: string, content: string | Buffer): Promise<Fixed> {
  const plain = Buffer.from(content);
  return { type, plain, zipped: await promisify(gzip)(plain), tag: hash("sha256", plain, "base64url") };
}

/** Sends the answer, unless the client has it cached. Clients always revalidate, so that a new release takes effect. */
export function sendFixed(
  { type, plain, zipped, tag }: Fixed,
  request: Incoming,
  more: Readonly<Record<string, string>> = {},
): Reply {
  const isZipped = /\bgzip\b/.test(request.header("Accept-Encoding"));
  const ETag = `"${tag}${isZipped ? "-gzip" : ""}"`;
  const headers = { ...more, ETag, "Cache-Control": "no-cache", Vary: "Accept, Accept-Encoding, Accept-Language" };
  const known = request.header("If-None-Match").split(",");
  if (known.some((each) => each.trim().replace(/^W\//, "") === ETag)) return { status: 304, headers };
  return isZipped
    ? { status: 200, type, body: zipped, headers: { ...headers, "Content-Encoding": "gzip" } }
    : { status: 200, type, body: plain, headers };
}
