import { fault } from "../faults.ts";
import { accepts } from "../http/accepts.ts";
import { pdf } from "../http/attachment.ts";
import { csv } from "../http/csv.ts";
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
      if (format !== undefined && format !== "" && !isFormat(format, produces))
        throw fault("unknown_format", "Not found.");
    }
    return undefined;
  };
}

/** Nearly all clients accept JSON, which every address answers with. */
function isUsual(accept: string): boolean {
  return accept === "" || accept === "*/*" || accept === "application/json";
}

/** Every address answers with JSON, whatever else it produces. One that answers with a PDF alone has no other format. */
function isFormat(format: string, produces: readonly string[]): boolean {
  if (format === "csv") return produces.includes(csv);
  return format === "json" || (format === "pdf" && produces.includes(pdf) && produces.includes("application/json"));
}
