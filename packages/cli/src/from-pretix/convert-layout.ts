import { isObject } from "@tessera/values";
import type { Pretix } from "./ask-pretix.ts";
import { downloadFile } from "./download-file.ts";
import type { Json } from "./read-answer.ts";

/** What every server of pretix prints on when a layout has no background of its own. */
const builtInBackground = /\/ticket_default_a4(?:\.\w+)?\.pdf$/;

/** Fields that are numbers, and may be sent as texts. */
const numericFields: ReadonlySet<string> = new Set([
  "left",
  "bottom",
  "width",
  "height",
  "size",
  "fontsize",
  "lineheight",
  "rotation",
]);

/** Makes a record out of a ticket layout: its background goes into it, and negative numbers are numbers. */
export async function convertLayout(
  layout: Json,
  { pretix, onLeftOut }: { pretix: Pretix; onLeftOut: (what: string) => void },
): Promise<Json> {
  const elements: unknown = layout["layout"];
  return {
    ...layout,
    layout: Array.isArray(elements) ? elements.map(convertElement) : elements,
    background: await embedBackground(layout, { pretix, onLeftOut }),
  };
}

function convertElement(element: unknown): unknown {
  if (!isObject(element)) return element;
  const converted = Object.entries(element).map(([name, value]) => {
    const isNegativeText = typeof value === "string" && /^-\d+(?:\.\d+)?$/.test(value);
    return [name, numericFields.has(name) && isNegativeText ? Number(value) : value] as const;
  });
  return Object.fromEntries(converted);
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
  // Media often lie on a host of their own, open to the world: they are fetched without the token, and never in the clear.
  if (url.origin !== pretix.origin && url.protocol !== "https:") return leaveOut(`it lies at ${url.origin}`);
  const file = await downloadFile(pretix, url, { withToken: false });
  if (!file.ok) return leaveOut(file.why);
  const isPdf = Buffer.from(file.dataUrl.slice(file.dataUrl.indexOf(",") + 1).slice(0, 8), "base64")
    .toString("latin1")
    .startsWith("%PDF-");
  if (!isPdf) return leaveOut("it is no PDF file");
  return file.dataUrl.replace(/^data:[^;]+/, "data:application/pdf");
}
