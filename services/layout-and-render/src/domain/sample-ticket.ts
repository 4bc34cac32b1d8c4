import type { Instant, Localized } from "@tessera/values";
import type { Answer, Attendee, Item, Occasion, Position, Question, Ticket } from "./ticket.ts";

/** The data of an event without any ticket. */
export type EventData = Pick<Ticket, "organizer" | "event" | "settings" | "questions"> & {
  readonly subevent: Occasion | null;
  /** A product of the event, if there is one. */
  readonly item: Item | null;
  readonly locale: string;
  readonly secretLength: number;
};

const names: Localized = {
  en: "Regular ticket",
  de: "Normalpreis",
  es: "Entrada general",
  fr: "Plein tarif",
  it: "Biglietto intero",
  nl: "Regulier ticket",
  pl: "Bilet normalny",
  pt: "Bilhete normal",
};

const addonNames: Localized = {
  en: "Parking",
  de: "Parkplatz",
  es: "Aparcamiento",
  fr: "Parking",
  it: "Parcheggio",
  nl: "Parkeren",
  pl: "Parking",
  pt: "Estacionamento",
};

const attendee: Attendee = {
  name: "Ada Lovelace",
  nameParts: {
    full_name: "Ada Lovelace",
    calling_name: "Ada",
    given_name: "Ada",
    middle_name: "King",
    family_name: "Lovelace",
    salutation: "Ms",
    title: "Dr.",
    degree: "MSc",
    latin_transcription: "Ada Lovelace",
  },
  email: "ada@example.org",
  company: "Analytical Engines Ltd",
  street: "12 St James's Square",
  zipcode: "SW1Y 4JH",
  city: "London",
  state: "",
  country: "GB",
};

const hourMicros = 3_600_000_000;

/** Makes a ticket that was never sold, with a value in every field that a real ticket could have. */
export function makeSampleTicket(data: EventData, now: Instant): Ticket {
  const { organizer, event, subevent, settings, questions, locale } = data;
  const { dateFrom, dateTo } = subevent ?? event;
  const item = data.item ?? plainItem(names);
  const secret = "k7mq3vx9cz5hwp2tn8rb4jdy6fgs1aeu".repeat(2).slice(0, data.secretLength);
  const position: Position = {
    ...{
      id: 0,
      positionid: 1,
      secret,
      pseudonymizationId: "S7MPLE2K9X",
      item,
      variation: null,
      price: "49.00",
      attendee,
    },
    seat: { name: "A-7-12", zone: "A", row: "7", rowLabel: "", number: "12", numberLabel: "" },
    validFrom: dateFrom,
    validUntil: dateTo ?? dateFrom + 6 * hourMicros,
    answers: questions.flatMap((question) => sampleAnswer(question, dateFrom)),
  };
  const addon = { ...position, positionid: 2, item: plainItem(addonNames), price: "8.50", seat: null, answers: [] };
  return {
    ...{ organizer, event, subevent, settings, position, questions },
    order: {
      code: "SAMPL",
      locale,
      salesChannel: "web",
      placedAt: now,
      email: attendee.email,
      phone: "+442079460000",
      invoiceAddress: { ...attendee, customField: "PO 4711" },
    },
    parent: null,
    addons: [addon],
    medium: "04A1B2C3D4E5F6",
    outputs: ["pdf"],
    scans: new Map([[position.id, dateFrom]]),
  };
}

function plainItem(name: Localized): Item {
  return { id: 0, name, description: null, metaData: {}, category: null, bundles: [] };
}

/** There is no sample file: the box of a file stays gray. */
function sampleAnswer({ id, type, options }: Question, at: Instant): Answer[] {
  if (type === "F") return [];
  const answer = { question: id, chosen: [], fileType: null };
  const [option] = options;
  if (type === "C" || type === "M") return option === undefined ? [] : [{ ...answer, text: "", chosen: [option.id] }];
  const moment = new Date(at / 1000).toISOString();
  const texts: Readonly<Record<string, string>> = {
    B: "True",
    N: "42",
    D: moment.slice(0, 10),
    H: "19:30:00",
    W: moment,
    CC: "GB",
    TEL: "+442079460000",
  };
  return [{ ...answer, text: texts[type] ?? "Lorem ipsum" }];
}
