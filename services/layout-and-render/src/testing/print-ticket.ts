import { parseInstant } from "@tessera/values";
import type { TextArea } from "../domain/elements/element.ts";
import { resolveElements } from "../domain/elements/resolve-elements.ts";
import { Formats } from "../domain/formats/formats.ts";
import type { Attendee, Event, InvoiceAddress, Item, Order, Position, Ticket } from "../domain/ticket.ts";

export function at(text: string): number {
  const instant = parseInstant(text);
  if (instant === undefined) throw new Error(`${text} is no moment`);
  return instant;
}

export const attendee: Attendee = {
  name: "",
  nameParts: {},
  email: "",
  company: "",
  street: "",
  zipcode: "",
  city: "",
  state: "",
  country: "",
};

export const event: Event = {
  name: { en: "Festival", de: "Festspiele" },
  location: { en: "Old Harbour\nHamburg" },
  dateFrom: at("2025-12-27T19:05:00Z"),
  dateTo: null,
  dateAdmission: null,
  metaData: {},
  hasSeatingPlan: false,
  currency: "EUR",
  timezone: "Europe/Berlin",
  itemMetaProperties: {},
};

export const invoiceAddress: InvoiceAddress = { ...attendee, customField: "" };

export function item(id: number, name: string, rest: Partial<Item> = {}): Item {
  return { id, name: { en: name }, description: null, metaData: {}, category: null, bundles: [], ...rest };
}

export function position(rest: Partial<Position> = {}): Position {
  return {
    id: 1,
    positionid: 1,
    secret: "s3cret",
    pseudonymizationId: "PSEUDONYM",
    item: item(1, "Ticket"),
    variation: null,
    price: "23.00",
    attendee,
    seat: null,
    validFrom: null,
    validUntil: null,
    answers: [],
    ...rest,
  };
}

/** A ticket; a test names only the parts that it is about. */
export function ticket({
  order = {},
  settings = {},
  ...rest
}: Partial<Omit<Ticket, "order" | "settings">> & {
  readonly order?: Partial<Order>;
  readonly settings?: Partial<Ticket["settings"]>;
} = {}): Ticket {
  return {
    organizer: "Organizer",
    event,
    subevent: null,
    settings: {
      region: null,
      nameScheme: "full",
      showsDateTo: true,
      organizerInfoText: null,
      eventInfoText: null,
      ...settings,
    },
    order: {
      code: "ABCDE",
      locale: "en",
      salesChannel: "web",
      placedAt: at("2025-06-30T22:15:00Z"),
      email: null,
      phone: null,
      invoiceAddress: null,
      ...order,
    },
    position: position(),
    parent: null,
    addons: [],
    questions: [],
    medium: null,
    outputs: [],
    scans: new Map(),
    ...rest,
  };
}

export function textArea(content: string, rest: Partial<TextArea> = {}): TextArea {
  return {
    type: "textarea",
    page: 1,
    left: 10,
    bottom: 10,
    width: 100,
    content,
    fontSize: 12,
    fontFamily: "Open Sans",
    bold: false,
    italic: false,
    align: "left",
    color: [0, 0, 0],
    rotation: 0,
    lineHeight: undefined,
    downward: false,
    ...rest,
  };
}

/** The time of printing in tests. */
const printedAt = at("2025-07-01T10:00:00Z");

export const printing = { now: printedAt, formats: new Formats() };

/** What an element with this content prints, and the warnings. */
export function print(
  content: string,
  printed: Ticket = ticket(),
  rest: Partial<TextArea> = {},
): { readonly value: string; readonly warnings: readonly string[] } {
  const { elements, warnings } = resolveElements([textArea(content, rest)], printed, printing);
  const [element] = elements;
  if (element?.type !== "textarea") throw new Error("there is no text");
  return { value: element.value, warnings };
}
