import type { ScanType } from "./presence.ts";

/** A scan as the history of its event shows it, refused or not. */
export interface PastScan {
  readonly id: number;
  readonly list: number;
  readonly position: number | null;
  readonly type: ScanType;
  /** Of a refusal. */
  readonly reason: string | null;
  readonly explanation: string | null;
  readonly at: number;
  readonly createdAt: number;
  readonly device: number | null;
  readonly deviceId: number | null;
  readonly gate: number | null;
  readonly autoCheckedIn: boolean;
}

/** A successful scan as a list shows it beside its ticket. */
export type PastCheckin = Pick<PastScan, "id" | "at" | "type" | "gate" | "device" | "deviceId" | "autoCheckedIn">;

/** Which scans of an event are wanted. What is undefined does not count. */
export interface ScanFilter {
  readonly organizer: string;
  readonly event: string;
  /** When they came here: from the first on, before the second. */
  readonly created: Period;
  /** When they were scanned. */
  readonly scanned: Period;
  readonly successful?: boolean | undefined;
  readonly reason?: string | undefined;
  readonly list?: number | undefined;
  readonly type?: ScanType | undefined;
  readonly gate?: number | undefined;
  /** Its internal id; devices known here have but one number. */
  readonly device?: number | undefined;
  readonly autoCheckedIn?: boolean | undefined;
}

/** From one instant on, and before another. */
export interface Period {
  readonly since: number | undefined;
  readonly before: number | undefined;
}
