import type { Context } from "../http/context.ts";
import { statusOf } from "../http/problem.ts";

const page = (docs: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Not found</title>
<h1>Not found</h1>
<p>There is nothing at this address. The interface is below /api/v1/; its paths end with a slash.
<a href="${docs}">The documentation</a> has all of them.</p>
</html>
`;

/** Answers an unknown path as HTML: scanners take a 404 in JSON for an answer about a ticket. `docs` is where the documentation is. */
export function notFoundPage(ctx: Context, docs: string): void {
  ctx.status = statusOf("unknown_address");
  ctx.type = "html";
  ctx.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  ctx.body = page(docs);
}
