import type { ResolvedElement } from "../domain/elements/resolved-element.ts";

type Of<T extends ResolvedElement["type"]> = Extract<ResolvedElement, { readonly type: T }>;

const lettering = {
  page: 1,
  left: 20,
  bottom: 100,
  width: 120,
  content: "other",
  language: "en",
  fontSize: 12,
  fontFamily: "Open Sans",
  bold: false,
  italic: false,
  align: "left",
  color: [0, 0, 0],
  rotation: 0,
} as const;

export function anArea(value: string, more: Partial<Of<"textarea">> = {}): Of<"textarea"> {
  return { type: "textarea", ...lettering, value, downward: false, lineHeight: undefined, ...more };
}

export function aContainer(value: string, more: Partial<Of<"textcontainer">> = {}): Of<"textcontainer"> {
  return {
    type: "textcontainer",
    ...lettering,
    value,
    height: 30,
    lineHeight: 1,
    verticalAlign: "top",
    isAutoresized: false,
    splitsLongWords: true,
    ...more,
  };
}

export function aCode(value: string, more: Partial<Of<"barcodearea">> = {}): Of<"barcodearea"> {
  return {
    type: "barcodearea",
    page: 1,
    left: 20,
    bottom: 100,
    size: 60,
    content: "secret",
    value,
    symbology: "qr",
    hasQuietZone: true,
    color: [0, 0, 0],
    ...more,
  };
}

export function anImage(more: Partial<Of<"imagearea">> = {}): Of<"imagearea"> {
  return {
    type: "imagearea",
    page: 1,
    left: 20,
    bottom: 100,
    width: 60,
    height: 40,
    content: "question_PHOTO",
    image: { position: 1, question: 1 },
    ...more,
  };
}

export function aMark(more: Partial<Of<"poweredby">> = {}): Of<"poweredby"> {
  return { type: "poweredby", page: 1, left: 20, bottom: 20, size: 20, style: "dark", ...more };
}
