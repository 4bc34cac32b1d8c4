import type { Instant, Localized } from "@tessera/values";

/** All that can be printed on one ticket. */
export interface Ticket {
  /** The name of the organizer. */
  readonly organizer: string;
  readonly event: Event;
  /** The date of a series that the ticket is for. */
  readonly subevent: Occasion | null;
  readonly settings: Settings;
  readonly order: Order;
  readonly position: Position;
  /** The base ticket of an add-on. */
  readonly parent: Position | null;
  /** The add-ons of the ticket, without canceled ones. */
  readonly addons: readonly Position[];
  readonly questions: readonly Question[];
  /** The identifier of the first linked medium. */
  readonly medium: string | null;
  /** The outputs in which the ticket may be downloaded now. */
  readonly outputs: readonly string[];
  /** Null: not read; the variables of scans are empty then. */
  readonly scans: Scans | null;
}

/** The first entries of scanned positions and add-ons; null: only exits. */
export type Scans = ReadonlyMap<number, Instant | null>;

/** An event, or a date of a series. */
export interface Occasion {
  readonly name: Localized;
  readonly location: Localized | null;
  readonly dateFrom: Instant;
  readonly dateTo: Instant | null;
  readonly dateAdmission: Instant | null;
  readonly metaData: Texts;
  readonly hasSeatingPlan: boolean;
}

export interface Event extends Occasion {
  readonly currency: string;
  readonly timezone: string;
  /** Defaults for products. */
  readonly itemMetaProperties: Texts;
}

/** Texts by name. */
export type Texts = Readonly<Record<string, string>>;

export interface Settings {
  readonly region: string | null;
  readonly nameScheme: string;
  readonly showsDateTo: boolean;
  readonly organizerInfoText: Localized | null;
  readonly eventInfoText: Localized | null;
}

export interface Order {
  readonly code: string;
  readonly locale: string;
  /** The identifier of the sales channel. */
  readonly salesChannel: string;
  readonly placedAt: Instant;
  readonly email: string | null;
  readonly phone: string | null;
  readonly invoiceAddress: InvoiceAddress | null;
}

/** Address fields as people write them; missing ones are empty. */
export interface Address {
  readonly name: string;
  readonly nameParts: Texts;
  readonly company: string;
  readonly street: string;
  readonly zipcode: string;
  readonly city: string;
  readonly state: string;
  /** A code of two letters. */
  readonly country: string;
}

export interface InvoiceAddress extends Address {
  readonly customField: string;
}

export interface Attendee extends Address {
  readonly email: string;
}

export interface Position {
  readonly id: number;
  readonly positionid: number;
  readonly secret: string;
  readonly pseudonymizationId: string;
  readonly item: Item;
  readonly variation: Variation | null;
  /** A decimal. */
  readonly price: string;
  readonly attendee: Attendee;
  readonly seat: Seat | null;
  readonly validFrom: Instant | null;
  readonly validUntil: Instant | null;
  readonly answers: readonly Answer[];
}

export interface Seat {
  readonly name: string;
  readonly zone: string;
  readonly row: string;
  readonly rowLabel: string;
  readonly number: string;
  readonly numberLabel: string;
}

export interface Answer {
  readonly question: number;
  readonly text: string;
  /** The ids of the chosen options; identifiers where no ids were sent. */
  readonly chosen: readonly (number | string)[];
  /** The media type of the answer's file, if it is a file. */
  readonly fileType: string | null;
}

interface Offer {
  readonly id: number;
  readonly name: Localized;
  readonly description: Localized | null;
  readonly metaData: Texts;
}

export interface Item extends Offer {
  readonly category: Localized | null;
  readonly bundles: readonly Bundle[];
}

export type Variation = Offer;

export interface Bundle {
  readonly item: number;
  readonly variation: number | null;
  readonly count: number;
}

export interface Question {
  readonly id: number;
  readonly identifier: string;
  readonly type: string;
  readonly options: readonly { readonly id: number; readonly identifier: string; readonly answer: Localized }[];
}
