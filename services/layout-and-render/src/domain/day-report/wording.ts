import { reasonsDe, reasonsEn } from "@tessera/values";

const english = {
  title: "Report of the day",
  allLists: "All lists",
  entered: "Tickets that came in",
  entries: "Entries",
  exits: "Exits",
  refusals: "Refusals",
  inside: "Inside",
  peak: "Most inside",
  scans: "First and last scan",
  perQuarter: "Entries and exits by the quarter of an hour",
  insideAtEnd: "Inside at the end of each quarter",
  products: "Products",
  lists: "Check-in lists",
  gates: "Gates",
  devices: "Devices",
  reasons: "Reasons of refusal",
  count: "Count",
  quarters: "Quarters of an hour with scans",
  noTicket: "Codes without a ticket",
  noGate: "At no gate",
  noDevice: "By no device",
  more: "more",
};

export type Wording = typeof english;

const german: Wording = {
  title: "Tagesbericht",
  allLists: "Alle Listen",
  entered: "Eingelassene Tickets",
  entries: "Eintritte",
  exits: "Austritte",
  refusals: "Abweisungen",
  inside: "Anwesend",
  peak: "Meiste Anwesende",
  scans: "Erster und letzter Scan",
  perQuarter: "Eintritte und Austritte je Viertelstunde",
  insideAtEnd: "Anwesend am Ende jeder Viertelstunde",
  products: "Produkte",
  lists: "Check-in-Listen",
  gates: "Tore",
  devices: "Geräte",
  reasons: "Gründe der Abweisung",
  count: "Anzahl",
  quarters: "Viertelstunden mit Scans",
  noTicket: "Codes ohne Ticket",
  noGate: "An keinem Tor",
  noDevice: "Ohne Gerät",
  more: "weitere",
};

export interface Language {
  readonly words: Wording;
  writeReason(reason: string): string;
  writeCount(count: number): string;
  writeDate(date: string): string;
}

/** English where the locale is not German. */
export function languageOf(locale: string): Language {
  const isGerman = /^de\b/i.test(locale);
  const reasons = new Map(Object.entries(isGerman ? reasonsDe : reasonsEn));
  return {
    words: isGerman ? german : english,
    writeReason: (reason) => reasons.get(`reason_${reason}`) ?? reason,
    writeCount: (count) => String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, isGerman ? "." : ","),
    writeDate: (date) => (isGerman ? date.split("-").reverse().join(".") : date),
  };
}
