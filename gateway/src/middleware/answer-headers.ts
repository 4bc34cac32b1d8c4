import type { Middleware } from "../http/context.ts";

/** Headers of every answer. No header allows other origins, so browsers refuse pages of other hosts. */
const headers = Object.entries({
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  // Answers belong to one key and may change at any time: counts change without `Last-Modified`, so a browser that
  // cached an answer and revalidated it by itself would show old counts.
  "Cache-Control": "private, no-store",
  Vary: "Accept, Accept-Language",
  "Content-Language": "en",
});

/** Sets the headers of every answer; while the process drains, also the one that makes clients reconnect elsewhere. */
export function setAnswerHeaders({ isDraining }: { isDraining: () => boolean }): Middleware {
  return async (ctx, next) => {
    for (const [name, value] of headers) ctx.res.setHeader(name, value);
    try {
      await next();
    } finally {
      if (isDraining() && !ctx.headerSent) ctx.set("Connection", "close");
    }
  };
}
