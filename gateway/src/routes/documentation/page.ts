/** Addresses are relative, so that the page also works behind a proxy that serves us below a path of its own. */
export const docsPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tessera API</title>
<div id="reference"></div>
<noscript>This page needs a script; the document itself is at <a href="api/v1/openapi.json">api/v1/openapi.json</a>.</noscript>
<script src="docs/standalone.js"></script>
<script src="docs/start.js"></script>
</html>
`;

/** A file of its own, because the page allows no script inside itself. Whatever would leave this host is switched off. */
export const startScript = `Scalar.createApiReference("#reference", {
  url: "api/v1/openapi.json",
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  agent: { disabled: true },
  mcp: { disabled: true },
});
`;
