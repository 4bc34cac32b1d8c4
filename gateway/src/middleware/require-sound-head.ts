import type { IncomingMessage } from "node:http";
import { fault } from "../faults.ts";
import type { Step } from "../http/step.ts";

/** Headers that must not repeat: Node keeps the first value, but a proxy may keep the last (request smuggling). */
const single: ReadonlyMap<string, string> = new Map([
  ["authorization", "Authorization"],
  ["host", "Host"],
]);

const lengths: ReadonlySet<number> = new Set([...single.keys()].map(({ length }) => length));

/** Refuses requests that Node accepts, but that a proxy may have read differently. */
export function requireSoundHead(): Step {
  return (ctx) => {
    const objection = objectToHead(ctx.req);
    if (objection === undefined) return undefined;
    // It is uncertain where the next request begins.
    ctx.set("Connection", "close");
    throw fault("malformed_request", objection);
  };
}

function objectToHead({ httpVersion, headers, rawHeaders }: IncomingMessage): string | undefined {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") return "Send the request as HTTP/1.1.";
  const coding = headers["transfer-encoding"];
  if (coding !== undefined && coding.trim().toLowerCase() !== "chunked") {
    return "The Transfer-Encoding may be `chunked` and nothing else.";
  }
  if (httpVersion === "1.1" && headers.host === undefined) return "The request has no Host header.";
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at] ?? "";
    const name = lengths.has(sent.length) ? single.get(sent.toLowerCase()) : undefined;
    if (name === undefined) continue;
    if (seen.has(name)) return `The request has several ${name} headers.`;
    seen.add(name);
  }
  return undefined;
}
