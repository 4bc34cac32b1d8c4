import type { Address, Attendee, Texts } from "../ticket.ts";
import { findNameScheme, namePart } from "./name-schemes.ts";
import type { Evaluate, View } from "./view.ts";

/** An add-on without attendee data has that of its base ticket. */
function attendeeField(field: Exclude<keyof Attendee, "nameParts">): Evaluate {
  return ({ ticket: { position, parent } }) => position.attendee[field] || (parent?.attendee[field] ?? "");
}

function invoiceField(field: Exclude<keyof Address, "nameParts">): Evaluate {
  return ({ ticket }) => ticket.order.invoiceAddress?.[field] ?? "";
}

function inWords(evaluateCode: Evaluate): Evaluate {
  return (view) => {
    const code = evaluateCode(view);
    return code === "" ? "" : view.formats.country(code);
  };
}

function attendeeParts({ position, parent }: View["ticket"]): Texts {
  const { nameParts } = position.attendee;
  return Object.keys(nameParts).length > 0 ? nameParts : (parent?.attendee.nameParts ?? {});
}

function invoiceParts({ order }: View["ticket"]): Texts {
  return order.invoiceAddress?.nameParts ?? {};
}

/** A part as it is printed: salutations are stored in English. */
function writePart(parts: Texts, name: string, { formats }: View): string {
  const part = namePart(parts, name);
  const { salutations } = formats.words;
  return name === "salutation" && Object.hasOwn(salutations, part) ? (salutations[part] ?? part) : part;
}

/** `Mx` stands for no salutation. */
function withoutMx(parts: Texts, name: string, view: View): string {
  return name === "salutation" && namePart(parts, name) === "Mx" ? "" : writePart(parts, name, view);
}

function greet(partsOf: (ticket: View["ticket"]) => Texts): Evaluate {
  return (view) => {
    const parts = partsOf(view.ticket);
    // Names are stored with their scheme, since the event may ask for other parts now.
    const scheme = namePart(parts, "_scheme") || view.ticket.settings.nameScheme;
    return findNameScheme(scheme).greet((name) => withoutMx(parts, name, view)) || namePart(parts, "full_name");
  };
}

const country = inWords(attendeeField("country"));

/** The attendee and the buyer. */
export const people = {
  attendee_name: attendeeField("name"),
  attendee_company: attendeeField("company"),
  attendee_street: attendeeField("street"),
  attendee_zipcode: attendeeField("zipcode"),
  attendee_city: attendeeField("city"),
  attendee_state: attendeeField("state"),
  attendee_country: country,
  attendee_email: attendeeField("email"),
  attendee_address: ({ ticket, formats }) => {
    const { name, company, street, zipcode, city, state, country: code } = ticket.position.attendee;
    const place = [zipcode, city, state].filter((part) => part !== "").join(" ");
    const lines = [name, company, street, place, code === "" ? "" : formats.country(code)];
    return lines.filter((line) => line !== "").join("\n");
  },
  attendee_name_for_salutation: greet(attendeeParts),
  invoice_name: invoiceField("name"),
  invoice_company: invoiceField("company"),
  invoice_street: invoiceField("street"),
  invoice_zipcode: invoiceField("zipcode"),
  invoice_city: invoiceField("city"),
  invoice_state: invoiceField("state"),
  invoice_country: inWords(invoiceField("country")),
  invoice_name_for_salutation: greet(invoiceParts),
  invoice_custom_field: ({ ticket }) => ticket.order.invoiceAddress?.customField ?? "",
} as const satisfies Readonly<Record<string, Evaluate>>;

const attendeePrefix = "attendee_name_";
const invoicePrefix = "invoice_name_";

/** Finds the variable of a part, or of several parts, of a name; the settings of the event say which exist. */
export function findNameVariable(name: string, nameScheme: string): Evaluate | undefined {
  const ofAttendee = name.startsWith(attendeePrefix);
  if (!ofAttendee && !name.startsWith(invoicePrefix)) return undefined;
  const wanted = name.slice((ofAttendee ? attendeePrefix : invoicePrefix).length);
  const [first, ...others] = findNameScheme(nameScheme).choices.get(wanted) ?? [];
  if (first === undefined) return undefined;
  if (others.length === 0) {
    const partsOf = ofAttendee ? attendeeParts : invoiceParts;
    return (view) => writePart(partsOf(view.ticket), first, view);
  }
  if (!ofAttendee) return undefined;
  return (view) => {
    const parts = attendeeParts(view.ticket);
    const texts = [first, ...others].map((part) => withoutMx(parts, part, view));
    return texts.filter((text) => text !== "").join(" ");
  };
}

export function listNameVariables(nameScheme: string): string[] {
  return Array.from(findNameScheme(nameScheme).choices).flatMap(([name, parts]) => [
    `${attendeePrefix}${name}`,
    ...(parts.length === 1 ? [`${invoicePrefix}${name}`] : []),
  ]);
}
