import type { ScanType } from "@tessera/admission";

/** A refusal that a device decided, as the device reports it. */
export interface FailedScan {
  readonly reason: string;
  readonly explanation: string | null;
  readonly rawCode: string;
  readonly sourceType: string;
  readonly rawItem: number | null;
  readonly rawVariation: number | null;
  readonly rawSubevent: number | null;
  readonly nonce: string | null;
  readonly at: number;
  readonly type: ScanType;
  readonly position: number | null;
}

export interface ScanPlace {
  readonly organizer: string;
  readonly event: string;
  readonly list: number;
  readonly deviceId: number | null;
  readonly gate: number | null;
}
