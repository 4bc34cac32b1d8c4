import type { ScanType } from "./presence.ts";
import type { SentAnswer } from "./questions/answer-questions.ts";

/** A scan as it arrived: what it is looked up by, decided by and stored with. */
export interface ArrivedScan {
  readonly organizer: string;
  readonly event: string;
  readonly list: number;
  readonly type: ScanType;
  /** When it was scanned: what the device says, else when it arrived. */
  readonly at: number;
  /** Null: what was scanned is a code that no ticket can have. */
  readonly code: string | null;
  /** The code in a form that can be stored. */
  readonly rawCode: string;
  /** The code read as the id of a ticket, where the input is trusted. */
  readonly ticketId: number | null;
  /** What the code was read from: `barcode`, `nfc_uid` or `nfc_mf0aes`. */
  readonly sourceType: string;
  /** Identifies the scan: sent again, it succeeds again and is stored once. */
  readonly nonce: string | null;
  readonly deviceId: number | null;
  /** Of the device. */
  readonly gate: number | null;
  /** Scanned offline, where the device has decided already: it succeeds wherever the ticket is certain. */
  readonly force: boolean;
  readonly ignoreUnpaid: boolean;
  /** The device knows the reason `canceled`. */
  readonly canceledSupported: boolean;
  /** The device can ask questions. */
  readonly questionsSupported: boolean;
  readonly answers: readonly SentAnswer[];
  readonly traceparent: string | null;
  /** Its ticket may have been sold so lately that it is not known here: boxoffice was not asked yet. */
  readonly mayBeNew: boolean;
}
