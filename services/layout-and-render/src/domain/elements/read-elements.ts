import type { SentElement } from "@tessera/resources/ticket-layout";
import type { Color, Content, LayoutElement } from "./element.ts";

type Lettering = Extract<SentElement, { type: "textarea" | "textcontainer" }>;
type Texts = Pick<Lettering, "content" | "text" | "text_i18n">;

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

/** Black if it is left out. A fourth number, opacity, has no effect. */
function readColor([red = 0, green = 0, blue = 0]: readonly number[] = []): Color {
  return [red, green, blue];
}
