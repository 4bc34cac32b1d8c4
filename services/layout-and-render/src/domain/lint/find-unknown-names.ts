import type { LayoutElement } from "../elements/element.ts";
import { namesIn } from "../elements/names-in.ts";
import type { Ticket } from "../ticket.ts";
import { findQuestion } from "../variables/answers.ts";
import { findVariable, listVariables } from "../variables/find-variable.ts";
import type { Finding } from "./finding.ts";

/** The fonts that there are. */
const fonts: ReadonlySet<string> = new Set(["Open Sans"]);

/** A name may be as long as a layout; people recognize it by its beginning. */
const longestShown = 100;

/** Finds names of variables and fonts that no ticket has. */
export function findUnknownNames(elements: readonly LayoutElement[], tickets: readonly Ticket[]): Finding[] {
  const known = new Map<string, boolean>();
  const isKnown = (name: string) => {
    const found = known.get(name) ?? tickets.some((ticket) => hasVariable(ticket, name));
    known.set(name, found);
    return found;
  };
  return elements.flatMap((element, index): Finding[] => {
    const named = { element: index, code: "unknown_variable" } as const;
    if (element.type === "poweredby") return [];
    if (element.type === "imagearea")
      return tickets.some((ticket) => hasPicture(ticket, element.content))
        ? []
        : [{ ...named, message: `No file question is called ${quote(element.content)}.` }];
    const unknown = [...new Set(namesIn(element))].filter((name) => !isKnown(name));
    const findings: Finding[] = unknown.map((name) => ({
      ...named,
      message: explain(name, tickets),
    }));
    if (element.type === "barcodearea" || fonts.has(element.fontFamily)) return findings;
    const message = `There is no font ${quote(element.fontFamily)}; it is printed in ${[...fonts].join(", ")}.`;
    return [...findings, { element: index, code: "unknown_font", message }];
  });
}

function explain(name: string, tickets: readonly Ticket[]): string {
  if (name === "") return "Its content is empty.";
  if (tickets.some((ticket) => hasPicture(ticket, name)))
    return `${quote(name)} is a file: only an imagearea prints it.`;
  return `There is no variable ${quote(name)}.`;
}

function quote(name: string): string {
  return JSON.stringify(name.slice(0, longestShown));
}

function hasVariable(ticket: Ticket, name: string): boolean {
  if (findVariable(name, { ticket }) === undefined) return false;
  // Any name after a prefix is a variable, and most are always empty.
  return !/^(?:item)?meta:/.test(name) || listVariables(ticket).includes(name);
}

function hasPicture(ticket: Ticket, name: string): boolean {
  return findQuestion(ticket, name)?.type === "F";
}
