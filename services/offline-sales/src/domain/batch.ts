/** What is asked for: so many tickets of one kind. */
export interface BatchFields {
  readonly testmode: boolean;
  readonly salesChannel: string;
  readonly layout: number;
  readonly subevent: number | null;
  readonly item: number;
  readonly variation: number | null;
  readonly amount: number;
  readonly comment: string;
}

/** A batch as lists show it. */
export interface Batch extends BatchFields {
  readonly id: number;
  /** The job that made it, and the sale in boxoffice. */
  readonly job: string;
  readonly created: number;
  readonly canceled: number | null;
}

/** Its orders and their tickets, in the order in which they were made. */
export interface BatchTickets {
  readonly orders: readonly string[];
  readonly positions: readonly number[];
}
