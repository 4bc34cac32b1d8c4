/** The position of an element: millimetres from the lower left corner of the visible page, y upwards. */
interface Placed {
  /** From 1. */
  readonly page: number;
  readonly left: number;
  readonly bottom: number;
}

/** The text, image or code of an element. */
export interface Content {
  /** The name of a variable. */
  readonly content: string;
  /** If `content` is `other`. */
  readonly text?: string | undefined;
  /** If `content` is `other_i18n`: texts by language. */
  readonly textI18n?: Readonly<Record<string, string>> | undefined;
}

/** Red, green and blue, 0 to 255. */
export type Color = readonly [number, number, number];

interface Lettering extends Content {
  /** Overrides the language of the order. */
  readonly locale?: string | undefined;
  /** In points. */
  readonly fontSize: number;
  readonly fontFamily: string;
  readonly bold: boolean;
  readonly italic: boolean;
  readonly align: "left" | "center" | "right";
  readonly color: Color;
  /** In degrees, clockwise. */
  readonly rotation: number;
  readonly width: number;
}

/** Kinds of codes. */
export type Symbology = "qr" | "aztec" | "datamatrix" | "pdf417" | "code128";

/** A code; `size` is its longer side, including the quiet zone if there is one. */
export interface BarcodeArea extends Placed, Content {
  readonly type: "barcodearea";
  readonly symbology: Symbology;
  readonly size: number;
  readonly hasQuietZone: boolean;
  readonly color: Color;
}

export interface ImageArea extends Placed {
  readonly type: "imagearea";
  readonly content: string;
  readonly width: number;
  readonly height: number;
}

/** Lines without a limit of height. */
export interface TextArea extends Placed, Lettering {
  readonly type: "textarea";
  /** Undefined: the natural line height of the font. */
  readonly lineHeight: number | undefined;
  /** Whether `bottom` is the upper edge. */
  readonly downward: boolean;
}

/** Lines in a box. */
export interface TextContainer extends Placed, Lettering {
  readonly type: "textcontainer";
  readonly height: number;
  readonly lineHeight: number;
  readonly verticalAlign: "top" | "middle" | "bottom";
  /** Whether the text shrinks until it fits. */
  readonly isAutoresized: boolean;
  readonly splitsLongWords: boolean;
}

/** The mark of the platform; `size` is its height. */
export interface PoweredBy extends Placed {
  readonly type: "poweredby";
  readonly style: "dark" | "white";
  readonly size: number;
}

/** One element of a layout, with all defaults (L2.1, L2.6). */
export type LayoutElement = BarcodeArea | ImageArea | TextArea | TextContainer | PoweredBy;
