import {
  arrayOf,
  boolean,
  choice,
  constant,
  id,
  jsonText,
  mapOf,
  numeric,
  object,
  oneKindOf,
  plain,
  text,
} from "@tessera/schema/build";
import { type Check, compileSchema, type JsonSchema, type TypeOf } from "@tessera/schema/schema";

/** More than any ticket has room for. */
const mostElements = 500;

/** Fifty of them fit in one message between services. In bytes. */
const mostBytes = 256 * 1024;

const flag = () => plain(["boolean"]);

/** Kept as sent, so this text is neither trimmed nor made of a number. */
const words = (description?: string) =>
  plain(["string"], {
    pattern: "^[^\\u0000\\ud800-\\udfff]*$",
    ...(description === undefined ? {} : { description }),
  });

const placed = {
  page: plain(["number"], { description: "The page that it is on; 1 if it is left out." }),
  left: numeric({ description: "Millimetres from the left edge of the page." }),
  bottom: numeric({ description: "Millimetres from the lower edge of the page." }),
};

const content = words("The name of a variable.");

const texts = {
  text: words("What is printed where `content` is `other`."),
  text_i18n: mapOf(words(), {
    maxProperties: 200,
    propertyNames: text({ trim: false, maxLength: 100, pattern: "[a-zA-Z-]" }),
    description: "What is printed where `content` is `other_i18n`, by language.",
  }),
};

const color = arrayOf(plain(["number"], { minimum: 0, maximum: 255 }), {
  minItems: 3,
  maxItems: 4,
  description: "Red, green and blue, 0 to 255. A fourth number has no effect.",
});

const lettering = {
  ...placed,
  content,
  ...texts,
  locale: plain(["string", "null"], { description: "The language it is written in; null: that of the order." }),
  width: numeric(),
  fontsize: numeric({ description: "In points." }),
  fontfamily: words(),
  bold: flag(),
  italic: flag(),
  align: choice(["left", "center", "right"]),
  color,
  lineheight: numeric({ description: "Of the font size." }),
  rotation: numeric({ description: "In degrees." }),
};

const place = ["type", "left", "bottom"] as const;
const letters = ["content", "width", "fontsize", "fontfamily", "bold", "italic", "align", "color"] as const;

const barcodeArea = object(
  {
    type: constant("barcodearea"),
    ...placed,
    size: numeric({ description: "Side in millimetres, of a long code the longer one." }),
    content: words("The name of a variable; `secret` if it is left out."),
    ...texts,
    nowhitespace: plain(["boolean"], { description: "Whether its quiet zone is left out." }),
    symbology: choice(["qr", "aztec", "datamatrix", "pdf417", "code128"]),
    color,
  },
  { required: [...place, "size"], closed: true },
);

const imageArea = object(
  { type: constant("imagearea"), ...placed, content, width: numeric(), height: numeric() },
  { required: [...place, "content", "width", "height"], closed: true },
);

const textArea = object(
  {
    type: constant("textarea"),
    ...lettering,
    downward: plain(["boolean"], { description: "Whether `bottom` is its upper edge. Recommended." }),
  },
  { required: [...place, ...letters], closed: true },
);

const textContainer = object(
  {
    type: constant("textcontainer"),
    ...lettering,
    height: numeric(),
    verticalalign: choice(["top", "middle", "bottom"]),
    autoresize: plain(["boolean"], { description: "Whether letters become smaller until the text fits." }),
    splitlongwords: flag(),
  },
  { required: [...place, ...letters, "height", "verticalalign"], closed: true },
);

const poweredBy = object(
  { type: constant("poweredby"), ...placed, content: choice(["dark", "white"]), size: numeric() },
  { required: [...place, "content", "size"], closed: true },
);

const layoutElement = {
  title: "LayoutElement",
  ...oneKindOf<
    "type",
    typeof barcodeArea | typeof imageArea | typeof textArea | typeof textContainer | typeof poweredBy
  >("type", [barcodeArea, imageArea, textArea, textContainer, poweredBy]),
};

/** An element as it is sent. */
export type SentElement = TypeOf<typeof layoutElement>;

export const layoutElements = arrayOf(layoutElement, { maxItems: mostElements });

/** What an organizer sets on a layout. */
export const ticketLayout = object(
  {
    name: text({ blank: false, maxLength: 190, description: "Internal description.", examples: ["Standard ticket"] }),
    default: boolean({ default: false, description: "Whether it is for products without a layout of their own." }),
    layout: jsonText(layoutElements, { description: "Its elements. They are answered as they were sent." }),
    background: text({
      nullable: true,
      default: null,
      description:
        "`file:…`, the id of an uploaded PDF, that lies below the elements; null: the built-in page, which is not blank.",
    }),
  },
  { required: ["name", "layout"] },
);

/** A layout that need not be stored. */
export const draftLayout = {
  layout: id({
    nullable: true,
    default: null,
    description: "A stored layout; null: the one that the ticket has, or, with `elements`, none.",
  }),
  elements: jsonText(layoutElements, { description: "Elements instead of the stored ones." }),
  background: text({
    nullable: true,
    description: "`file:…`, the id of an uploaded PDF, instead of the stored background; null: the built-in page.",
  }),
};

/** The data of a record. */
export const ticketLayoutRecord = object(
  {
    id: id({ description: "Its id." }),
    ...ticketLayout.properties,
    name: text({ default: "", maxLength: 190, description: "Internal description.", examples: ["Standard ticket"] }),
    layout: arrayOf(layoutElement, {
      maxItems: mostElements,
      default: [],
      description: "Its elements. They are answered as they were sent.",
    }),
    background: text({
      nullable: true,
      default: null,
      description:
        "The PDF below the elements, as `data:application/pdf;base64,…`; null: the built-in page, which is not blank.",
      examples: ["data:application/pdf;base64,JVBERi0xLjcK…"],
    }),
  },
  { required: ["id"] },
);

/** A product and a sales channel that a layout is for. */
export const layoutAssignment = object(
  {
    item: id({ description: "The item." }),
    sales_channel: text({
      default: "web",
      blank: false,
      maxLength: 190,
      description: "Identifier of a sales channel.",
      examples: ["web"],
    }),
  },
  { required: ["item"] },
);

export const layoutAssignmentRecord = object(
  {
    id: id({ description: "Its id." }),
    layout: id({ description: "The layout." }),
    ...layoutAssignment.properties,
  },
  { required: ["id", "layout", "item"] },
);

const checkElements = compileSchema(layoutElements);

const beginning = "This is no valid layout: ";

/** Problems told at once. */
const mostTold = 20;

/** Says that the JSON text of a layout is too long; undefined: it is not. */
export function findTooLong(json: string): string | undefined {
  return new TextEncoder().encode(json).byteLength > mostBytes
    ? `It is longer than ${mostBytes / 1024} KiB.`
    : undefined;
}

/** Says what is wrong with the JSON text of a layout, by element, counted from 1, and property; undefined: nothing. */
export function findLayoutProblem(json: string): string | undefined {
  const tooLong = findTooLong(json);
  if (tooLong !== undefined) return `${beginning}${tooLong}`;
  let elements: unknown;
  try {
    elements = JSON.parse(json);
  } catch {
    return `${beginning}It is not JSON.`;
  }
  const checked = checkElements(elements);
  if (checked.ok) return undefined;
  const problems = Object.entries(checked.errors).flatMap(([path, messages]) =>
    messages.map((message) => `${nameOf(path)}${message}`),
  );
  const untold = problems.length - mostTold;
  return `${beginning}${problems.slice(0, mostTold).join(" ")}${untold > 0 ? ` And ${untold} more.` : ""}`;
}

/** Names the element and the property at a path, or the layout itself. */
function nameOf(path: string): string {
  const [, index, property] = /^(\d+)(?:\.(.*))?$/s.exec(path) ?? [];
  if (index === undefined) return "";
  return `Element ${Number(index) + 1}${property === undefined ? "" : `, ${property.slice(0, 100)}`}: `;
}

/** Compiles a schema that has a field of elements, by default `layout`, which are checked, too. */
export function compileLayoutSchema<S extends JsonSchema>(schema: S, field = "layout"): Check<TypeOf<S>> {
  const check = compileSchema(schema);
  return (value) => {
    const checked = check(value);
    const sent: readonly [string, unknown][] = typeof value === "object" && value !== null ? Object.entries(value) : [];
    const json = sent.find(([name]) => name === field)?.[1];
    const problem = typeof json === "string" ? findLayoutProblem(json) : undefined;
    if (problem === undefined) return checked;
    return { ok: false, errors: { ...(checked.ok ? {} : checked.errors), [field]: [problem] } };
  };
}
