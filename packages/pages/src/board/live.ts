/** The state of an event, as `live/` shows it. */
export interface Live {
  readonly at: string;
  readonly entries: number;
  readonly exits: number;
  readonly refused: number;
  readonly lists: readonly LiveList[];
  readonly gates: readonly LiveGate[];
  readonly devices: readonly LiveDevice[];
  readonly refusals: readonly LiveRefusal[];
  readonly doubles: { readonly count: number; readonly explained: number } | null;
  /** Those that hold, the unacknowledged ones first. */
  readonly alarms: readonly LiveAlarm[];
}

/** Something to look at, as `alarms/` shows it. */
export interface LiveAlarm {
  readonly id: number;
  readonly kind: string;
  readonly gate: number | null;
  readonly device_id: number | null;
  readonly list: number | null;
  readonly raised: string;
  readonly ended: string | null;
  readonly acknowledged: string | null;
  readonly acknowledged_by: string | null;
  readonly since: string | null;
  readonly measured: number | null;
  readonly usual: number | null;
}

export interface LiveList {
  readonly id: number;
  readonly name: string;
  readonly position_count: number;
  readonly checkin_count: number;
  readonly inside_count: number;
  /** Null: it has none. */
  readonly limit: LiveLimit | null;
}

export interface LiveLimit {
  readonly persons: number;
  readonly soft_limit: number | null;
  readonly hard_limit: number | null;
  /** When it is reached if visitors come as they do. */
  readonly reached: string | null;
}

export interface LiveGate {
  readonly gate: number | null;
  readonly entries: number;
  readonly exits: number;
  readonly refused: number;
  readonly reasons: Readonly<Record<string, number>>;
  readonly last_scan: string | null;
}

export interface LiveDevice extends LiveGate {
  readonly device_id: number;
  readonly name: string | null;
  readonly last_contact: string | null;
  readonly queue: number | null;
  readonly battery: number | null;
  readonly last_sync: string | null;
}

export interface LiveRefusal {
  readonly id: number;
  readonly datetime: string;
  readonly list: number;
  readonly gate: number | null;
  readonly device_id: number | null;
  readonly reason: string;
}

/** A minute of the last hour, as `live/hour/` shows it. */
export interface GateMinute {
  readonly at: string;
  readonly gate: number | null;
  readonly entries: number;
  readonly exits: number;
  readonly refused: number;
}

/** The last hour, as `live/hour/` shows it. */
export interface LastHour {
  /** When it was counted: the minute of this time is not over. */
  readonly at: string;
  readonly minutes: readonly GateMinute[];
}
