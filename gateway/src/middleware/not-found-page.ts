import type { Context } from "../http/context.ts";
import { statusOf } from "../http/problem.ts";

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Not found</title>
<h1>Not found</h1>
<p>There is nothing at this address. The interface is below /api/v1/; its paths end with a slash.</p>
</html>
`;

/** Answers an unknown path as HTML: scanners take a 404 in JSON for an answer about a ticket. */
export function notFoundPage(ctx: Context): void {
  ctx.status = statusOf("not_found");
  ctx.type = "html";
  ctx.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  ctx.body = page;
}
