import type { Pretix } from "./ask-pretix.ts";
import { downloadFile, toDataUrl } from "./download-file.ts";
import type { Json } from "./read-answer.ts";

/** The background of layouts without their own. */
const builtInBackground = /\/ticket_default_a4(?:\.\w+)?\.pdf$/;

interface Conversion {
  readonly pretix: Pretix;
  /** Gets a description of what is left out. */
  readonly onLeftOut: (what: string) => void;
}

/**
 * Makes a record of a ticket layout with an embedded background. Returns undefined if the background cannot be read:
 * the platform would otherwise delete the one that an earlier run imported.
 */
export async function convertLayout(layout: Json, conversion: Conversion): Promise<Json | undefined> {
  const background = await embedBackground(layout, conversion);
  return background === undefined ? undefined : { ...layout, background };
}

async function embedBackground(layout: Json, { pretix, onLeftOut }: Conversion): Promise<string | null | undefined> {
  const { background } = layout;
  if (typeof background !== "string" || background === "") return null;
  const name = `ticket layout ${String(layout["id"])}`;
  const leaveOut = (why: string) => {
    onLeftOut(`the background of ${name} (${why})`);
    return null;
  };
  const url = URL.parse(background, pretix.origin);
  if (url === null) return leaveOut("it has no address");
  if (builtInBackground.test(url.pathname)) return null;
  // Media are often public files on another host: fetched without the token, and by HTTPS only.
  if (url.origin !== pretix.origin && url.protocol !== "https:") return leaveOut(`it lies at ${url.origin}`);
  const file = await downloadFile(pretix, url, { withToken: false });
  if (!file.ok && file.isTransient) {
    onLeftOut(`${name}, whose background cannot be read now (${file.why}); the next run tries again`);
    return undefined;
  }
  if (!file.ok) return leaveOut(file.why);
  if (!file.bytes.toString("latin1", 0, 6).startsWith("%PDF-")) return leaveOut("it is no PDF file");
  return toDataUrl("application/pdf", file.bytes);
}
