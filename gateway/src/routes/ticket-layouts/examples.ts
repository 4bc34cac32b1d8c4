import { firstIdMadeHere } from "@tessera/values";
import { examplePage } from "../../http/example-page.ts";
import type { Example } from "../../http/route.ts";

/** The code that gates scan, and the name beside it. */
export const elementsExample = [
  { type: "barcodearea", page: 1, left: "20.00", bottom: "150.00", size: "60.00", content: "secret" },
  {
    type: "textarea",
    page: 1,
    left: "90.00",
    bottom: "180.00",
    width: "90.00",
    content: "attendee_name",
    fontsize: "24.0",
    fontfamily: "Open Sans",
    bold: true,
    italic: false,
    align: "left",
    color: [23, 26, 46, 1],
  },
];

const plain = { name: "Plain", default: false, layout: elementsExample };
const created = { id: firstIdMadeHere, ...plain, background: null, item_assignments: [] };
const second = { ...created, id: 2, name: "Plain ticket" };
/** As the demo has it. */
const imported = {
  ...second,
  layout: [
    {
      type: "barcodearea",
      page: 1,
      left: 20,
      bottom: 150,
      size: 60,
      content: "secret",
      nowhitespace: false,
      color: [0, 0, 0],
    },
  ],
};
/** Workshops have no layout of their own. */
const assignment = { item: 4, sales_channel: "web" };
const shown = (id: number) => ({ id, layout: 1, item: id, sales_channel: "web" });

export const ticketLayoutExamples = {
  list: { status: "ok", answer: examplePage(imported) },
  get: { status: "ok", path: { id: 2 }, answer: imported },
  create: { status: "created", body: plain, answer: created },
  patch: { status: "ok", path: { id: 2 }, body: { name: "Plain ticket" }, answer: imported },
  put: { status: "ok", path: { id: 2 }, body: { ...plain, name: "Plain ticket" }, answer: second },
  remove: { status: "noContent", path: { id: 2 } },
  assign: {
    status: "ok",
    path: { id: 2 },
    body: [assignment],
    answer: { ...second, item_assignments: [assignment] },
  },
  assignments: { status: "ok", answer: examplePage(shown(1), shown(2), shown(3)) },
  assignment: { status: "ok", answer: shown(1) },
} satisfies Readonly<Record<string, Example>>;
