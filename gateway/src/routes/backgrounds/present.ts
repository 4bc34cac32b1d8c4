import type { Reply } from "../../http/route.ts";

/** Answers a range that begins after the end of the file. */
export function presentUnsatisfiable({ size }: { readonly size: number }): Reply {
  const headers = { "Content-Range": `bytes */${size}` };
  return { status: "rangeNotSatisfiable", headers, body: { detail: "The range begins behind the end of the file." } };
}
