/** Nothing but text and links: no script, no style, and nothing of elsewhere. */
export const pageHeaders = {
  "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "X-Frame-Options": "DENY",
};

/** A page with a link for each organizer that a person may sign in to. */
export function choicePage(organizers: readonly string[], base: string): string {
  const links = organizers.map((organizer) => {
    const href = `${base}/api/v1/session/oidc/?organizer=${encodeURIComponent(organizer)}`;
    return `<li><a href="${escapeHtml(href)}">${escapeHtml(organizer)}</a></li>`;
  });
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in</title>
<h1>Sign in to an organizer</h1>
<ul>
${links.join("\n")}
</ul>
</html>
`;
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? "");
}
