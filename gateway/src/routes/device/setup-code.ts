import { hash } from "node:crypto";

/** Without characters that look like others. */
const alphabet = "abcdefghjkmnpqrstuvwxyz23456789";

const length = 16;

/** The code with which a scanner sets itself up: it follows from its first token, so a repeated request gets the same code. */
export function setupCodeOf(token: string): string {
  const bytes = hash("sha256", `set up with ${token}`, "buffer");
  return Array.from({ length }, (_, index) => alphabet[(bytes[index] ?? 0) % alphabet.length]).join("");
}

/** What the QR code of a device says to the app that scans it. */
export function setupText({ url, code }: { readonly url: string; readonly code: string }): string {
  return JSON.stringify({ handshake_version: 1, url, token: code });
}
