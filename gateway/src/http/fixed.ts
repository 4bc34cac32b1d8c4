import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Incoming, Reply } from "./route.ts";

/** Bytes that stay the same as long as the process runs. */
export interface Fixed {
  readonly type: string;
  readonly plain: Buffer;
  readonly zipped: Buffer;
  readonly tag: string;
}

/** Keeps bytes for all requests, compressed once. */
export async function fix(type: string, content: string | Buffer): Promise<Fixed> {
  const plain = Buffer.from(content);
  return { type, plain, zipped: await promisify(gzip)(plain), tag: hash("sha256", plain, "base64url") };
}

/** Sends the bytes, unless the client has them. It asks each time, so the bytes of a new release replace what it has. */
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
