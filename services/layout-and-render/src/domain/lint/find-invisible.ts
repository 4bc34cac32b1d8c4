import { isVisible } from "@tessera/values";
import type { LayoutElement } from "../elements/element.ts";
import { contrastOn } from "./contrast.ts";
import type { Finding } from "./finding.ts";

/** Below it scanners have trouble, on clean paper already. */
const leastOfCodes = 3;

/** Below it people see nothing. */
const leastOfTexts = 1.2;

/** White paper. */
const paper = 1;

/**
 * Finds elements that print nothing, or nothing that can be seen on paper; `isBare`: nothing lies below them. `grounds` are the
 * luminances of what lies below codes.
 */
export function findInvisible(
  elements: readonly LayoutElement[],
  { isBare, grounds }: { readonly isBare: boolean; readonly grounds: ReadonlyMap<LayoutElement, number> },
): Finding[] {
  return elements.flatMap((element, index): Finding[] => {
    if (element.type === "poweredby" || element.type === "imagearea") return [];
    const contrast = contrastOn(paper, element.color);
    const findings: Finding[] = [];
    if (!hasText(element)) {
      const field = element.content === "other" ? "text" : "text_i18n";
      findings.push({
        element: index,
        code: "no_text",
        message: `It prints nothing: its ${field} is empty. Write one, or remove the element.`,
      });
    }
    if (element.type === "barcodearea") {
      const ground = grounds.get(element) ?? paper;
      if (contrast < leastOfCodes) {
        const message = "Its color is too light: scanners need dark codes on a light ground. Make it black.";
        findings.push({ element: index, code: "code_too_light", message });
      } else if (contrastOn(ground, element.color) < leastOfCodes) {
        const message =
          "The background is too dark below it: scanners need dark codes on a light ground. Move it to a light place, or put a white box below it into the background.";
        findings.push({ element: index, code: "ground_too_dark", message });
      }
    }
    if (element.type !== "barcodearea" && isBare && contrast < leastOfTexts) {
      const message = "Its color is as light as the paper, and the layout has no background. Make it darker.";
      findings.push({ element: index, code: "text_too_light", message });
    }
    return findings;
  });
}

function hasText({ content, text = "", textI18n = {} }: Exclude<LayoutElement, { type: "poweredby" | "imagearea" }>) {
  if (content !== "other" && content !== "other_i18n") return true;
  const texts = content === "other" ? [text] : Object.values(textI18n);
  return texts.some(isVisible);
}
