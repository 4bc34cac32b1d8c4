import type { Color, LayoutElement } from "../elements/element.ts";
import type { Finding } from "./finding.ts";

/** Below it scanners have trouble, on clean paper already. */
const leastOfCodes = 3;

/** Below it people see nothing. */
const leastOfTexts = 1.2;

/** Finds elements that print nothing, or nothing that can be seen on paper; `isBare`: nothing lies below them. */
export function findInvisible(elements: readonly LayoutElement[], { isBare }: { readonly isBare: boolean }): Finding[] {
  return elements.flatMap((element, index): Finding[] => {
    if (element.type === "poweredby" || element.type === "imagearea") return [];
    const contrast = contrastOnWhite(element.color);
    const findings: Finding[] = [];
    if (!hasText(element)) {
      const field = element.content === "other" ? "text" : "text_i18n";
      findings.push({ element: index, code: "no_text", message: `It prints nothing: its ${field} is empty.` });
    }
    if (element.type === "barcodearea" && contrast < leastOfCodes) {
      const message = "Its color is too light: scanners need dark codes on a light ground.";
      findings.push({ element: index, code: "code_too_light", message });
    }
    if (element.type !== "barcodearea" && isBare && contrast < leastOfTexts) {
      const message = "Its color is as light as the paper, and the layout has no background.";
      findings.push({ element: index, code: "text_too_light", message });
    }
    return findings;
  });
}

function hasText({ content, text = "", textI18n = {} }: Exclude<LayoutElement, { type: "poweredby" | "imagearea" }>) {
  if (content !== "other" && content !== "other_i18n") return true;
  const texts = content === "other" ? [text] : Object.values(textI18n);
  return texts.some((each) => each.trim() !== "");
}

/** The contrast ratio of WCAG: 21 is black, 1 is white. */
function contrastOnWhite(color: Color): number {
  const [red = 0, green = 0, blue = 0] = color.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05);
}
