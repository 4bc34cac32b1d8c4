import { isSetupLink } from "../set-up/read-setup-link.ts";

/** Why something that was scanned cannot be a ticket. */
export type CodeProblem =
  | { readonly kind: "empty" }
  | { readonly kind: "long"; readonly length: number }
  | { readonly kind: "binary" | "setup" };

/** Longer than any ticket: signed ones have a few hundred characters. */
const longest = 1000;

/** What scanners put before a code if they are told to say its kind: a bracket, a letter and a digit, as AIM names them. */
export function symbologyOf(text: string): string {
  return /^\][A-Za-z][\dA-Za-z]/.exec(text)?.[0] ?? "";
}

/** Reads what a camera, a scanner or a person has brought: a code, or why it is not one. */
export function checkCode(brought: string): { readonly code: string } | { readonly problem: CodeProblem } {
  // Scanners with a cable end a code with one of these.
  const said = brought.replace(/[\r\n\t]+$/, "").trim();
  const code = said.slice(symbologyOf(said).length);
  if (code === "") return { problem: { kind: "empty" } };
  if (code.length > longest) return { problem: { kind: "long", length: code.length } };
  if (hasControls(code) || !code.isWellFormed()) return { problem: { kind: "binary" } };
  // Who has it could set up a scanner: it goes into no log.
  if (isSetupLink(code)) return { problem: { kind: "setup" } };
  return { code };
}

/** The host of a web address, which a visitor may hold before the camera in the place of a ticket; undefined: it is no address. */
export function hostOf(code: string): string | undefined {
  return /^(?:https?:\/\/|(?=www\.))([^\s/?#]+)/i.exec(code)?.[1];
}

function hasControls(text: string): boolean {
  return [...text].some(
    (character) => character < " " || (character >= "\u007f" && character < "\u00a0") || character === "\ufffd",
  );
}
