import { fault } from "../faults.ts";
import type { Step } from "../http/step.ts";

/** Refuses a request whose Accept header or `format` excludes all media types. Runs before authentication. */
export function negotiate(): Step {
  return (ctx) => {
    const produces = ctx.state.endpoint?.produces ?? [];
    const accept = ctx.req.headers.accept ?? "";
    if (!isUsual(accept) && !produces.some((type) => accepts(accept, type)) && !accepts(accept, "application/json")) {
      throw fault("not_acceptable", "The Accept header allows none of the types that this address answers with.");
    }
    if (ctx.querystring.includes("format=")) {
      const format = new URLSearchParams(ctx.querystring).getAll("format").at(-1);
      if (format !== undefined && format !== "" && format !== "json") throw fault("unknown_format", "Not found.");
    }
    return undefined;
  };
}

/** Nearly all clients accept JSON, which every address answers with. */
function isUsual(accept: string): boolean {
  return accept === "" || accept === "*/*" || accept === "application/json";
}

/**
 * Whether an Accept header allows a media type: the most specific matching range decides. Koa's own `ctx.accepts`
 * refuses a range with parameters, `application/json; charset=utf-8`, which many clients send.
 */
export function accepts(header: string, type: string): boolean {
  const [major = ""] = type.split("/");
  let specificity = -1;
  let allowed = false;
  for (const part of header.split(",")) {
    const [range = "", ...parameters] = part.split(";").map((piece) => piece.trim().toLowerCase());
    const found = [`*/*`, `${major}/*`, type].indexOf(range);
    if (found < specificity || found < 0) continue;
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    const wanted = weight === undefined || Number(weight) > 0;
    allowed = found > specificity ? wanted : allowed || wanted;
    specificity = found;
  }
  return allowed;
}
