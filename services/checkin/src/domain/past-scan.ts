import type { ScanType } from "@tessera/admission";

/** A scan as the history of its event shows it, refused or not. */
export interface PastScan {
  readonly id: number;
  readonly list: number;
  readonly position: number | null;
  readonly type: ScanType;
  /** The reason of a refusal; null where the scan was admitted. */
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

/** Which scans of an event are wanted. Undefined conditions do not count. */
export interface ScanFilter {
  readonly organizer: string;
  readonly event: string;
  /** The period in which the scans were stored here. */
  readonly created: Period;
  /** The period in which the tickets were scanned. */
  readonly scanned: Period;
  readonly successful?: boolean | undefined;
  readonly reason?: string | undefined;
  readonly list?: number | undefined;
  readonly type?: ScanType | undefined;
  readonly gate?: number | undefined;
  /** The internal id of the device; devices known here have one number only. */
  readonly device?: number | undefined;
  readonly autoCheckedIn?: boolean | undefined;
}

/** A half-open interval: `since` is included, `before` is not. */
export interface Period {
  readonly since: number | undefined;
  readonly before: number | undefined;
}
