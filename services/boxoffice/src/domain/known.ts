/** What exists of what a run of records refers to. */
export interface Known {
  readonly organizer: boolean;
  /** Whether the scope's event is a series; undefined where there is no such event. */
  readonly series: boolean | undefined;
  /** Whether they are series, by slug. */
  readonly events: ReadonlyMap<string, boolean>;
  /** Names by id. */
  readonly gates: ReadonlyMap<number, string>;
  readonly salesChannels: ReadonlySet<string>;
  readonly subevents: ReadonlySet<number>;
  readonly taxRules: ReadonlySet<number>;
  readonly categories: ReadonlySet<number>;
  /** The variations of each item. */
  readonly items: ReadonlyMap<number, ReadonlySet<number>>;
  /** The positions of each order. */
  readonly orders: ReadonlyMap<string, readonly number[]>;
  /** Codes of orders of the organizer that were made here. */
  readonly codesMadeHere: ReadonlySet<string>;
  readonly positions: ReadonlyMap<number, KnownPosition>;
  readonly questions: ReadonlyMap<number, KnownQuestion>;
  readonly seats: ReadonlyMap<number, KnownSeat>;
  readonly media: ReadonlyMap<number, MediumCode>;
  /** The events that have a position of that id. */
  readonly linkedPositions: ReadonlyMap<number, readonly string[]>;
  /** The credential of each token: its organizer, kind and id. */
  readonly tokens: ReadonlyMap<string, string>;
}

export interface KnownPosition {
  /** The code of its order. */
  readonly order: string;
  /** When the shop changed that order last, in microseconds since 1970; null: it does not say. */
  readonly changedAt: number | null;
  /** The record of its order leaves it out: another order may take it over. */
  readonly isLeftOut: boolean;
}

export interface KnownQuestion {
  readonly type: string;
  readonly identifier: string;
  /** Their identifiers by id. */
  readonly options: Readonly<Record<string, string>>;
  readonly askedAtCheckin: boolean;
  readonly dependsOn: number | null;
}

/** Identifies a seat of an event, as its id does. */
export interface SeatPlace {
  readonly guid: string;
  readonly subevent: number | null;
}

export interface KnownSeat extends SeatPlace {
  readonly id: number;
  readonly data: unknown;
  /** The position that takes it: not canceled, and of an order that is neither canceled nor expired. */
  readonly heldBy: number | null;
}

/** Identifies a medium of an organizer, as its id does. */
export interface MediumCode {
  readonly type: string;
  readonly identifier: string;
}
