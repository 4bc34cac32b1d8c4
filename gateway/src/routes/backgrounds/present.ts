import type { Reply } from "../../http/route.ts";

/** Answers a request for a part that begins behind the end of a file. */
export function presentUnsatisfiable({ size }: { readonly size: number }): Reply {
  const headers = { "Content-Range": `bytes */${size}` };
  return { status: 416, headers, body: { detail: "The range begins behind the end of the file." } };
}
