import type { LayoutElement } from "../elements/element.ts";
import { namesIn } from "../elements/names-in.ts";
import type { Finding } from "./finding.ts";
import type { KnownNames } from "./known-names.ts";

const fonts: ReadonlySet<string> = new Set(["Open Sans"]);

/** Longer names are cut: people recognize a name by its beginning. */
const longestShown = 100;

/** Finds variables and fonts that do not exist. */
export function findUnknownNames(elements: readonly LayoutElement[], known: KnownNames): Finding[] {
  return elements.flatMap((element, index): Finding[] => {
    const named = { element: index, code: "unknown_variable" } as const;
    if (element.type === "poweredby") return [];
    if (element.type === "imagearea")
      return known.hasFile(element.content)
        ? []
        : [{ ...named, message: `No file question is called ${quote(element.content)}. Choose one that there is.` }];
    const unknown = [...new Set(namesIn(element))].filter((name) => !known.hasText(name));
    const findings: Finding[] = unknown.map((name) => ({
      ...named,
      message: explain(name, known),
    }));
    if (element.type === "barcodearea" || fonts.has(element.fontFamily)) return findings;
    const message = `There is no font ${quote(element.fontFamily)}; it is printed in ${[...fonts].join(", ")}.`;
    return [...findings, { element: index, code: "unknown_font", message }];
  });
}

function explain(name: string, known: KnownNames): string {
  if (name === "") return "Its content is empty. Name a variable.";
  if (known.hasFile(name)) return `${quote(name)} is a file: only an imagearea prints it.`;
  return `There is no variable ${quote(name)}. Choose one that there is.`;
}

function quote(name: string): string {
  return JSON.stringify(name.slice(0, longestShown));
}
