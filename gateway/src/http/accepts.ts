import type { Incoming } from "./route.ts";

/**
 * Whether an Accept header allows a media type: the most specific matching range decides. Koa's own `ctx.accepts`
 * refuses a range with parameters, `application/json; charset=utf-8`, which many clients send.
 */
export function accepts(header: string, type: string): boolean {
  const [major = ""] = type.split("/");
  return allows(header, ["*/*", `${major}/*`, type]);
}

/** Whether a client accepts a type, and not `otherwise`. */
export function prefers(request: Pick<Incoming, "header">, type: string, otherwise: string): boolean {
  const accept = request.header("Accept");
  return accept !== "" && accepts(accept, type) && !accepts(accept, otherwise);
}

/** Whether an Accept-Encoding header allows a coding. A client that does not name it may not know it. */
export function acceptsCoding(header: string, coding: string): boolean {
  return allows(header, ["*", coding]);
}

/** Whether the most specific of these names that the header has is wanted: has no weight, or one above zero. */
function allows(header: string, names: readonly string[]): boolean {
  let specificity = -1;
  let allowed = false;
  for (const part of header.split(",")) {
    const [name = "", ...parameters] = part.split(";").map((piece) => piece.trim().toLowerCase());
    const found = names.indexOf(name);
    if (found < specificity || found < 0) continue;
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    const wanted = weight === undefined || Number(weight) > 0;
    allowed = found > specificity ? wanted : allowed || wanted;
    specificity = found;
  }
  return allowed;
}
