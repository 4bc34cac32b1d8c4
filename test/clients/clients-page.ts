import { readFileSync } from "node:fs";

export interface Block {
  /** The word behind the fence. */
  readonly kind: string;
  readonly text: string;
}

/** The code of docs/clients.md, by the headings above it. */
export function readClientsPage(): ReadonlyMap<string, readonly Block[]> {
  const page = readFileSync(new URL("../../docs/clients.md", import.meta.url), "utf8");
  return new Map(
    page
      .split(/^## /m)
      .slice(1)
      .map((section) => [
        section.split("\n")[0] ?? "",
        Array.from(section.matchAll(/^```(\w+)\n(.*?)^```$/gms), ([, kind = "", text = ""]) => ({ kind, text })),
      ]),
  );
}
