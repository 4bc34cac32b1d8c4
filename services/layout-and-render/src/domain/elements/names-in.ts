import { isOfScans } from "../variables/scans.ts";
import type { Content, LayoutElement } from "./element.ts";
import { findPlaceholders } from "./placeholders.ts";

/** The names of variables in a content, including texts in all languages. */
export function namesIn({ content, text = "", textI18n = {} }: Content): string[] {
  if (content !== "other" && content !== "other_i18n") return [content];
  const texts = content === "other" ? [text] : Object.values(textI18n);
  return texts.flatMap((each) => Array.from(findPlaceholders(each), ([, name = ""]) => name));
}

/** Whether an element may print data of check-in. */
export function mayPrintScans(elements: readonly LayoutElement[]): boolean {
  return elements.some(
    (element) => element.type !== "poweredby" && element.type !== "imagearea" && namesIn(element).some(isOfScans),
  );
}
