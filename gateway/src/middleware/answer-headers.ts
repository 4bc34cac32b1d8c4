import type { Middleware } from "../context.ts";

/** Headers of every answer. There are none for other origins: browsers keep pages from elsewhere away. */
const headers = Object.entries({
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  // Answers belong to the key that asked, and the next one may differ: counts change where `Last-Modified` does not, so
  // a browser that kept an answer and asked by itself whether it still holds would show old ones.
  "Cache-Control": "private, no-store",
  Vary: "Accept, Accept-Language",
  "Content-Language": "en",
});

/** Sets the headers of every answer; once the process drains, also the one that makes clients connect elsewhere. */
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
