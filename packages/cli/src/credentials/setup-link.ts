import { toString as drawQr } from "qrcode";
import { parseJson } from "../command/parse-json.ts";

/** The link with which a browser becomes the device of a set-up text. The code is behind `#`, so no server logs it. */
export function pageLink(setup: string): string {
  const { url, token } = parseJson(setup) as { readonly url: string; readonly token: string };
  return `${url.replace(/\/+$/, "")}/scan/#setup=${encodeURIComponent(token)}`;
}

/** Draws a QR code with the blocks that terminals have, dark on light whatever their colours are. */
export function drawCode(text: string): Promise<string> {
  return drawQr(text, { type: "terminal", small: true, errorCorrectionLevel: "M" });
}
