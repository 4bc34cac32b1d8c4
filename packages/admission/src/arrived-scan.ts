import type { BroughtMedium } from "./media-terms.ts";
import type { ScanType } from "./presence.ts";
import type { SentAnswer } from "./questions/answer-questions.ts";

/** A scan as it arrived: what it is looked up by, decided by and stored with. */
export interface ArrivedScan {
  readonly organizer: string;
  readonly event: string;
  readonly list: number;
  /** Further lists, of other events: the list of the event whose ticket has the code decides. */
  readonly others: readonly { readonly event: string; readonly list: number }[];
  readonly type: ScanType;
  /** When the ticket was scanned: the time that the device says, else the time of arrival. */
  readonly at: number;
  /** Null: no ticket can have the scanned code. */
  readonly code: string | null;
  /** The scanned code in a form that can be stored. */
  readonly rawCode: string;
  /** The code read as the id of a ticket, where the input is trusted. */
  readonly ticketId: number | null;
  /** The source of the code: `barcode`, `nfc_uid` or `nfc_mf0aes`. */
  readonly sourceType: string;
  /** The idempotency key of the scan: sent again, the scan succeeds again and is stored once. */
  readonly nonce: string | null;
  readonly deviceId: number | null;
  readonly gate: number | null;
  /** Scanned offline, and decided by the device: a forced scan succeeds wherever its ticket is certain. */
  readonly force: boolean;
  readonly ignoreUnpaid: boolean;
  /** The device knows the reason `canceled`. */
  readonly canceledSupported: boolean;
  /** The device can ask questions. */
  readonly questionsSupported: boolean;
  readonly answers: readonly SentAnswer[];
  /** Explanations are in the language of the order, not of the event. */
  readonly useOrderLocale: boolean;
  /** The medium that the ticket is exchanged for; null: none was brought. */
  readonly medium: BroughtMedium | null;
  readonly traceparent: string | null;
  /** The ticket may have been sold so lately that it is unknown here, and boxoffice was not asked yet. */
  readonly mayBeNew: boolean;
}

/** A scan as it would be on each of its lists alone, its own list first. */
export function onEachList(scan: ArrivedScan): readonly ArrivedScan[] {
  return [scan, ...scan.others.map((place) => ({ ...scan, ...place }))];
}
