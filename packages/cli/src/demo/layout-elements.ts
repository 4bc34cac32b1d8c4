/** Left, bottom, width and height, in millimetres. */
export type Box = readonly [left: number, bottom: number, width: number, height: number];

export type Texts = Readonly<Record<"en" | "de", string>>;

interface Look {
  readonly size: number;
  readonly bold?: boolean;
  readonly color?: readonly [number, number, number];
  readonly align?: "left" | "center" | "right";
  readonly vertical?: "top" | "middle" | "bottom";
  readonly rotation?: number;
}

/** A variable in a box; its letters become smaller until it fits. */
export function field(content: string, [left, bottom, width, height]: Box, look: Look): object {
  return {
    type: "textcontainer",
    page: 1,
    left,
    bottom,
    width,
    height,
    content,
    fontsize: look.size,
    fontfamily: "Open Sans",
    bold: look.bold ?? false,
    italic: false,
    align: look.align ?? "left",
    verticalalign: look.vertical ?? "top",
    color: look.color ?? [23, 26, 46],
    lineheight: 1,
    rotation: look.rotation ?? 0,
    autoresize: true,
    splitlongwords: true,
  };
}

/** Words of the design, in the language of the order. */
export function words(texts: Texts, box: Box, look: Look): object {
  return { ...field("other_i18n", box, look), text_i18n: texts };
}

/** The code that scanners read. */
export function code([left, bottom]: readonly [number, number], size: number): object {
  return { type: "barcodearea", page: 1, left, bottom, size, content: "secret", nowhitespace: false, color: [0, 0, 0] };
}

export function mark([left, bottom]: readonly [number, number], size: number, style: "dark" | "white"): object {
  return { type: "poweredby", page: 1, left, bottom, size, content: style };
}

/** A layout and the products that it is for, as records. */
export function* layoutRecords(
  ofEvent: (kind: string, data: Readonly<Record<string, unknown>>) => object,
  {
    name,
    elements,
    background,
    items,
  }: {
    readonly name: string;
    readonly elements: readonly object[];
    readonly background: Buffer;
    readonly items: readonly number[];
  },
): Generator<object> {
  yield ofEvent("ticket_layout", {
    id: 1,
    name,
    default: true,
    layout: elements,
    background: `data:application/pdf;base64,${background.toString("base64")}`,
  });
  for (const item of items) yield ofEvent("ticket_layout_item", { id: item, layout: 1, item, sales_channel: "web" });
}
