import { foreignPage, isFromOwnPage } from "../http/own-page.ts";
import type { Step } from "../http/step.ts";

const reading = new Set(["GET", "HEAD"]);

/** Refuses changes that a page of another host makes with the cookie of a person, which browsers send along (CSRF). */
export function refuseForeignPages({ baseUrl }: { readonly baseUrl: () => string }): Step {
  return (ctx) => {
    if (ctx.state.caller?.kind !== "person" || reading.has(ctx.method)) return undefined;
    if (isFromOwnPage((name) => ctx.get(name), baseUrl()) !== true) throw foreignPage();
    return undefined;
  };
}
