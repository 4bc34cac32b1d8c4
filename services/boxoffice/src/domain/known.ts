/** The existing entities that a run of records refers to. */
export interface Known {
  readonly organizer: boolean;
  /** Whether the scope's event is a series; undefined: there is no such event. */
  readonly series: boolean | undefined;
  /** Whether events are series, by slug. */
  readonly events: ReadonlyMap<string, boolean>;
  /** Names by id. */
  readonly gates: ReadonlyMap<number, string>;
  readonly salesChannels: ReadonlySet<string>;
  readonly subevents: ReadonlySet<number>;
  readonly taxRules: ReadonlySet<number>;
  readonly categories: ReadonlySet<number>;
  /** The variations of each item. */
  readonly items: ReadonlyMap<number, ReadonlySet<number>>;
  readonly orders: ReadonlyMap<string, readonly number[]>;
  /** Codes of the organizer's orders that were made here. */
  readonly codesMadeHere: ReadonlySet<string>;
  readonly positions: ReadonlyMap<number, KnownPosition>;
  readonly questions: ReadonlyMap<number, KnownQuestion>;
  readonly seats: ReadonlyMap<number, KnownSeat>;
  readonly media: ReadonlyMap<number, MediumCode>;
  /** The events that have a position with this id. */
  readonly linkedPositions: ReadonlyMap<number, readonly string[]>;
  /** The credential of each token: its organizer, kind and id. */
  readonly tokens: ReadonlyMap<string, string>;
}

export interface KnownPosition {
  /** The code of its order. */
  readonly order: string;
  /** When the shop changed that order last, in microseconds since 1970; null: unknown. */
  readonly changedAt: number | null;
  readonly secret: string;
  /** The record of its order leaves it out: another order may take it over. */
  readonly isLeftOut: boolean;
}

export interface KnownQuestion {
  readonly type: string;
  readonly identifier: string;
  /** Identifiers by id. */
  readonly options: Readonly<Record<string, string>>;
  readonly askedAtCheckin: boolean;
  readonly dependsOn: number | null;
}

/** The natural key of a seat of an event. */
export interface SeatPlace {
  readonly guid: string;
  readonly subevent: number | null;
}

export interface KnownSeat extends SeatPlace {
  readonly id: number;
  readonly data: unknown;
  /** The position that takes the seat: not canceled, and of an order that is neither canceled nor expired. */
  readonly heldBy: number | null;
}

/** The natural key of a medium of an organizer. */
export interface MediumCode {
  readonly type: string;
  readonly identifier: string;
}
