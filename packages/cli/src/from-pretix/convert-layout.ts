import type { Pretix } from "./ask-pretix.ts";
import { downloadFile, toDataUrl } from "./download-file.ts";
import type { Json } from "./read-answer.ts";

/** The background of every layout that has none of its own. */
const builtInBackground = /\/ticket_default_a4(?:\.\w+)?\.pdf$/;

/** Makes a record of a ticket layout: embeds its background. */
export async function convertLayout(
  layout: Json,
  { pretix, onLeftOut }: { pretix: Pretix; onLeftOut: (what: string) => void },
): Promise<Json> {
  return { ...layout, background: await embedBackground(layout, { pretix, onLeftOut }) };
}

async function embedBackground(
  layout: Json,
  { pretix, onLeftOut }: { pretix: Pretix; onLeftOut: (what: string) => void },
): Promise<string | null> {
  const { background } = layout;
  if (typeof background !== "string" || background === "") return null;
  const leaveOut = (why: string) => {
    onLeftOut(`the background of ticket layout ${String(layout["id"])} (${why})`);
    return null;
  };
  const url = URL.parse(background, pretix.origin);
  if (url === null) return leaveOut("it has no address");
  if (builtInBackground.test(url.pathname)) return null;
  // Media are often public files on another host: they are fetched without the token, and by HTTPS only.
  if (url.origin !== pretix.origin && url.protocol !== "https:") return leaveOut(`it lies at ${url.origin}`);
  const file = await downloadFile(pretix, url, { withToken: false });
  if (!file.ok) return leaveOut(file.why);
  if (!file.bytes.toString("latin1", 0, 6).startsWith("%PDF-")) return leaveOut("it is no PDF file");
  return toDataUrl("application/pdf", file.bytes);
}
