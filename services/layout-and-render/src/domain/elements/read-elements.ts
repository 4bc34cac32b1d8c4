import type { Color, Content, LayoutElement, Symbology } from "./element.ts";

type Numeric = number | string;
type SentColor = readonly [number, number, number, number?];

interface Placed {
  readonly page?: number;
  readonly left: Numeric;
  readonly bottom: Numeric;
}

interface Texts {
  readonly content: string;
  readonly text?: string;
  readonly text_i18n?: Readonly<Record<string, string>>;
}

interface Lettering extends Placed, Texts {
  readonly locale?: string | null;
  readonly width: Numeric;
  readonly fontsize: Numeric;
  readonly fontfamily: string;
  readonly bold: boolean;
  readonly italic: boolean;
  readonly align: "left" | "center" | "right";
  readonly color: SentColor;
  readonly lineheight?: Numeric;
  readonly rotation?: Numeric;
}

/** An element as it was sent, and checked. */
type SentElement =
  | (Placed &
      Omit<Texts, "content"> & {
        readonly type: "barcodearea";
        readonly size: Numeric;
        readonly content?: string;
        readonly nowhitespace?: boolean;
        readonly symbology?: Symbology;
        readonly color?: SentColor;
      })
  | (Placed & {
      readonly type: "imagearea";
      readonly content: string;
      readonly width: Numeric;
      readonly height: Numeric;
    })
  | (Lettering & { readonly type: "textarea"; readonly downward?: boolean })
  | (Lettering & {
      readonly type: "textcontainer";
      readonly height: Numeric;
      readonly verticalalign: "top" | "middle" | "bottom";
      readonly autoresize?: boolean;
      readonly splitlongwords?: boolean;
    })
  | (Placed & { readonly type: "poweredby"; readonly content: "dark" | "white"; readonly size: Numeric });

const black: Color = [0, 0, 0];

/** Reads the JSON of a checked layout: quoted numbers become numbers, and defaults are filled in. */
export function readElements(json: string): LayoutElement[] {
  return (JSON.parse(json) as SentElement[]).map(readElement);
}

function readElement(sent: SentElement): LayoutElement {
  const { page = 1 } = sent;
  const placed = { page, left: Number(sent.left), bottom: Number(sent.bottom) };
  switch (sent.type) {
    case "barcodearea":
      return {
        ...{ type: sent.type, ...placed, size: Number(sent.size) },
        ...readContent({ ...sent, content: sent.content ?? "secret" }),
        symbology: sent.symbology ?? "qr",
        hasQuietZone: sent.nowhitespace !== true,
        color: readColor(sent.color),
      };
    case "imagearea": {
      const { type, content, width, height } = sent;
      return { type, ...placed, content, width: Number(width), height: Number(height) };
    }
    case "textarea":
      return {
        ...{ type: sent.type, ...placed, ...readLettering(sent) },
        lineHeight: sent.lineheight === undefined ? undefined : Number(sent.lineheight),
        downward: sent.downward === true,
      };
    case "textcontainer":
      return {
        ...{ type: sent.type, ...placed, ...readLettering(sent) },
        height: Number(sent.height),
        lineHeight: Number(sent.lineheight ?? 1),
        verticalAlign: sent.verticalalign,
        isAutoresized: sent.autoresize === true,
        splitsLongWords: sent.splitlongwords !== false,
      };
    case "poweredby":
      return { type: sent.type, ...placed, style: sent.content, size: Number(sent.size) };
  }
}

function readLettering({ locale, width, fontsize, fontfamily, rotation = 0, ...sent }: Lettering) {
  const { bold, italic, align, color } = sent;
  return {
    ...readContent(sent),
    ...(locale === undefined || locale === null || locale === "" ? {} : { locale }),
    ...{ width: Number(width), fontSize: Number(fontsize), fontFamily: fontfamily, bold, italic, align },
    ...{ color: readColor(color), rotation: Number(rotation) },
  };
}

function readContent({ content, text, text_i18n: textI18n }: Texts): Content {
  return { content, ...(text === undefined ? {} : { text }), ...(textI18n === undefined ? {} : { textI18n }) };
}

/** The fourth number, opacity, has no effect. */
function readColor([red, green, blue]: SentColor | Color = black): Color {
  return [red, green, blue];
}
