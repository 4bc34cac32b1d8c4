import { hash } from "node:crypto";

// Addresses are relative, so that the pages also work behind a proxy below a path of its own.

/** The mark of the project: a tile of a mosaic with the two halves of a ticket. */
export const favicon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="6" fill="#223"/>
<path d="M6 10h11v12H6v-3a3 3 0 0 0 0-6z" fill="#f3efe6"/>
<path d="M19 10h7v3a3 3 0 0 0 0 6v3h-7z" fill="#b5532b"/>
</svg>
`;

const style = `
body { max-width: 34rem; margin: 12vh auto; padding: 0 1.5rem; font: 16px/1.6 Helvetica, Arial, sans-serif; color: #223; background: #f3efe6 }
img { width: 3rem; height: 3rem }
h1 { margin: .5rem 0 0; font-size: 2rem }
main { margin-top: 2rem; padding: 0 1.5rem; background: #fff; border: 1.5px solid #223; border-radius: 8px }
ul { padding: 0; list-style: none }
li { margin: 1rem 0 }
a { color: #b5532b; font-weight: bold }
small { display: block; color: #556 }
@media (prefers-color-scheme: dark) {
body { color: #f3efe6; background: #171a24 }
main { background: #223; border-color: #578 }
a { color: #f0a37c }
small { color: #b9c3d2 }
}
`;

/** The start page of a deployment. */
export const homePage = (version: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tessera</title>
<link rel="icon" href="favicon.ico" type="image/svg+xml">
<style>${style}</style>
<img src="favicon.ico" alt="">
<h1>Tessera</h1>
<p>Check-in and tickets for events. Version ${version}.</p>
<main><ul>
<li><a href="docs">Documentation of the REST API</a><small>Every route, with examples that can be sent.</small></li>
<li><a href="api/v1/openapi.json">api/v1/openapi.json</a><small>The same for programs, as OpenAPI 3.1.</small></li>
</ul></main>
</html>
`;

/** Allows the one style of the page, and no script. */
export const homePolicy = `default-src 'none'; style-src 'sha256-${hash("sha256", style, "base64")}'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export const docsPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tessera API</title>
<link rel="icon" href="favicon.ico" type="image/svg+xml">
<link rel="preload" href="api/v1/openapi.json" as="fetch" crossorigin>
<div id="loading" style="margin: 3rem 1.5rem; font: 16px/1.6 Helvetica, Arial, sans-serif">
<h1>Tessera API</h1>
<p>The viewer has four megabytes and is loading. Without scripts, read <a href="api/v1/openapi.json">api/v1/openapi.json</a>.</p>
</div>
<div id="reference"></div>
<script src="docs/standalone.js"></script>
<script src="docs/start.js"></script>
</html>
`;

/** Everything is loaded from this host; other hosts are blocked. The viewer sets styles by script. */
export const docsPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** The public keys of a demo. */
export interface DemoKeys {
  readonly apiKey: string | undefined;
  readonly deviceKey: string | undefined;
}

/** A file of its own, because the page allows no inline script. Features that would contact other hosts are off. */
export function startScript({ apiKey = "", deviceKey = "" }: DemoKeys): string {
  const options = {
    url: "api/v1/openapi.json",
    withDefaultFonts: false,
    telemetry: false,
    hideClientButton: true,
    showDeveloperTools: "never",
    agent: { disabled: true },
    mcp: { disabled: true },
    // On a phone the button lies on the address of the request.
    customCss: "@media (max-width: 767px) { .scalar-app-layout .scalar-sidebar-toggle { display: none } }",
    authentication: {
      preferredSecurityScheme: "key",
      // The prefix of the header, after which a key is pasted.
      securitySchemes: {
        key: { value: `Token ${apiKey}` },
        device: { value: `Device ${deviceKey}` },
        operator: { value: "Token " },
      },
    },
  };
  return `Scalar.createApiReference("#reference", ${JSON.stringify(options, undefined, 2)});
document.getElementById("loading").remove();
`;
}
