import type { Instant } from "@tessera/values";
import { lineBreak } from "../drawing/prepare-lines.ts";
import type { Formats } from "../formats/formats.ts";
import type { Ticket } from "../ticket.ts";
import { findImage, questionPrefix } from "../variables/answers.ts";
import { findVariable, listVariables } from "../variables/find-variable.ts";
import { isOfScans } from "../variables/scans.ts";
import type { View } from "../variables/view.ts";
import type { Content, LayoutElement } from "./element.ts";
import { findPlaceholders } from "./placeholders.ts";
import type { AnswerImage, ResolvedElement } from "./resolved-element.ts";

export interface Printing {
  readonly now: Instant;
  /** Shared by many tickets: formatters are expensive. */
  readonly formats: Formats;
}

/** Printed in place of a failed variable. */
const errorMark = "(error)";

/** More fits on no page. */
const longestText = 50_000;

/** The limit for all texts of a ticket: hundreds of the longest texts would exhaust memory. */
const mostLetters = 400_000;
const tooManyLetters = `the texts of a ticket have ${mostLetters} in all`;

/** The limit for all shrinking texts of a ticket: each is laid out up to 25 times. */
const mostShrinking = 10_000;

/** A longer secret is shortened where people read it. */
const longestSecret = { whole: 32, shortened: 30 };

/**
 * Replaces the variables of elements by their values on one ticket. A variable that fails is marked, and named in the
 * warnings; other elements are unaffected.
 */
export function resolveElements(
  elements: readonly LayoutElement[],
  ticket: Ticket,
  printing: Printing,
): { readonly elements: ResolvedElement[]; readonly warnings: string[] } {
  const warnings: string[] = [];
  let [left, shrinking] = [mostLetters, mostShrinking];
  const resolved = elements.map((element, index) => {
    const warn = (problem: string) => warnings.push(`Element ${index + 1} (${nameElement(element)}): ${problem}`);
    const printed = resolveElement(element, ticket, { ...printing, most: Math.min(longestText, left), warn });
    if ("value" in printed) left = Math.max(0, left - printed.value.length);
    if (printed.type !== "textcontainer" || !printed.isAutoresized) return printed;
    if (printed.value.length > shrinking) {
      warn(`it is not made smaller: the texts of a ticket that are have ${mostShrinking} characters in all`);
      return { ...printed, isAutoresized: false };
    }
    shrinking -= printed.value.length;
    return printed;
  });
  return { elements: resolved, warnings };
}

interface Limits {
  /** The number of printed letters of a text. */
  readonly most: number;
  readonly warn: (problem: string) => void;
}

function nameElement(element: LayoutElement): string {
  const content = "content" in element ? element.content : "";
  return [element.type, withoutControls(content).slice(0, 100)].filter((part) => part !== "").join(" ");
}

function resolveElement(
  element: LayoutElement,
  ticket: Ticket,
  { most, warn, ...printing }: Printing & Limits,
): ResolvedElement {
  switch (element.type) {
    case "poweredby":
      return element;
    case "imagearea":
      return { ...element, image: findImage(ticket, element.content) };
    case "barcodearea": {
      const view = viewOf(ticket, ticket.order.locale, printing);
      if (element.content === "secret") return { ...element, value: ticket.position.secret };
      const value = writeContent(element, { view, warn, most: longestText });
      if (value.length <= most) return { ...element, value };
      // A truncated code would say something else.
      warn(`it is not printed: ${tooManyLetters}`);
      return { ...element, value: "" };
    }
    case "textarea":
    case "textcontainer": {
      const locale = element.locale || ticket.order.locale;
      const view = viewOf(ticket, locale, printing);
      const value =
        element.content === "secret" ? shorten(ticket.position.secret) : writeContent(element, { view, warn, most });
      return { ...element, value: withoutControls(value), language: view.formats.locale.tag };
    }
  }
}

function viewOf(ticket: Ticket, locale: string, { now, formats }: Printing): View {
  return {
    ticket,
    now,
    formats: formats.of(locale, ticket.settings.region),
    localTime: (instant, zone) => formats.localTime(instant, zone),
  };
}

interface Writing extends Limits {
  readonly view: View;
}

function writeContent({ content, text = "", textI18n = {} }: Content, writing: Writing): string {
  switch (content) {
    case "":
      writing.warn("it has no content");
      return errorMark;
    case "other":
      return fillPlaceholders(text, writing);
    case "other_i18n":
      return fillPlaceholders(writing.view.formats.text(textI18n), writing);
    default:
      return cut(writeVariable(content, writing) ?? "", writing);
  }
}

/** The value of a variable on the ticket; undefined: the name is unknown. */
function writeVariable(name: string, { view, warn }: Writing): string | undefined {
  const evaluate = findVariable(name, view);
  if (evaluate === undefined) return undefined;
  if (view.ticket.scans === null && isOfScans(name)) warn(`${name} is empty: check-in does not answer`);
  try {
    return evaluate(view);
  } catch {
    warn(`${name} cannot be printed for this ticket`);
    return errorMark;
  }
}

/** Replaces `{name}`. Values are not expanded again, and unknown names stay. */
function fillPlaceholders(text: string, writing: Writing): string {
  const known = new Map<string, string | undefined>();
  let filled = "";
  let end = 0;
  for (const match of findPlaceholders(text)) {
    const [placeholder, name = ""] = match;
    if (!known.has(name)) known.set(name, writeVariable(name, writing));
    filled += text.slice(end, match.index) + (known.get(name) ?? placeholder);
    end = match.index + placeholder.length;
    if (filled.length > writing.most) break;
  }
  return cut(filled + text.slice(end, end + writing.most + 1), writing);
}

function cut(text: string, { most, warn }: Limits): string {
  if (text.length <= most) return text;
  warn(`only the first ${most} characters are printed${most < longestText ? `: ${tooManyLetters}` : ""}`);
  return text.slice(0, most);
}

function shorten(secret: string): string {
  return secret.length > longestSecret.whole ? `${secret.slice(0, longestSecret.shortened)}…` : secret;
}

/** Line breaks become line feeds; lone surrogates and control characters except tabs are removed. */
function withoutControls(text: string): string {
  return text
    .replaceAll(lineBreak, "\n")
    .toWellFormed()
    .replaceAll(/[^\P{Cc}\n\t]/gu, "");
}

/** All variables of a ticket in the language of its order. */
export function evaluateAll(
  ticket: Ticket,
  printing: Printing,
): { readonly texts: ReadonlyMap<string, string>; readonly images: ReadonlyMap<string, AnswerImage | null> } {
  const writing = { view: viewOf(ticket, ticket.order.locale, printing), warn: () => {}, most: longestText };
  const texts = listVariables(ticket).map((name): [string, string] => {
    const value = cut(writeVariable(name, writing) ?? "", writing);
    return [name, name === "secret" ? value : withoutControls(value)];
  });
  const files = ticket.questions
    .filter(({ type }) => type === "F")
    .map(({ identifier }) => questionPrefix + identifier);
  return { texts: new Map(texts), images: new Map(files.map((name) => [name, findImage(ticket, name)])) };
}
