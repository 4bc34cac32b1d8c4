import type { ScannedList, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { readJson } from "../../body/read-json.ts";
import { fault } from "../../faults.ts";
import type { EventAddress } from "../../http/event-url.ts";
import type { Reply } from "../../http/route.ts";
import type { Expandable } from "../listed-positions/expand.ts";
import type { PdfData } from "../listed-positions/pdf-data.ts";
import { presentPosition } from "../listed-positions/present.ts";
import type { Prints } from "../listed-positions/print.ts";

export interface PresentOptions {
  readonly address: EventAddress;
  /** The resources that the scan expands. */
  readonly names: readonly Expandable[];
  readonly pdfData: PdfData | undefined;
  readonly prints: Prints;
  /** The id of the position, where nothing more of it is shown. */
  readonly onlyId?: number | undefined;
  readonly force: boolean;
  /** The status of a refusal that was not forced. */
  readonly refusedStatus: RefusedStatus;
  /** Of a simulated scan, as JSON. */
  readonly explanation?: Uint8Array | undefined;
}

export type RefusedStatus = "ok" | "invalid";

/**
 * Decides the status of an outcome. A forced refusal is always 400: scanners resend a scan that they decided offline
 * until they read success or 400, so with 200 they would never stop.
 */
export function presentOutcome(outcome: ScanOutcome, options: PresentOptions): Reply {
  switch (outcome.outcome?.$case) {
    case "admitted":
      return {
        status: "created",
        body: { status: "ok", ...around(outcome, options), position: present(outcome, options) },
      };
    case "incomplete":
      return {
        status: "invalid",
        body: {
          status: "incomplete",
          ...around(outcome, options),
          position: present(outcome, options),
          questions: outcome.outcome.value.questions.map(readJson),
        },
      };
    case "exchange": {
      const { mediaPolicy, mediaType, explanation } = outcome.outcome.value;
      return {
        status: "invalid",
        body: {
          status: "exchange",
          media_policy: mediaPolicy,
          media_type: mediaType,
          reason: "exchange",
          reason_explanation: explanation,
          ...around(outcome, options),
          position: present(outcome, options),
        },
      };
    }
    case "refused": {
      const { reason, explanation } = outcome.outcome.value;
      return {
        status: options.force ? "invalid" : options.refusedStatus,
        body: {
          status: "error",
          reason,
          reason_explanation: explanation ?? null,
          ...around(outcome, options),
          // A revoked code reveals nothing about the ticket that had it.
          ...(reason === "revoked" ? { require_attention: false } : {}),
          ...(outcome.position === undefined && options.onlyId === undefined
            ? {}
            : { position: present(outcome, options) }),
        },
      };
    }
    case "unknownTicket":
      return {
        status: "notFound",
        body: {
          detail: "Not found.",
          status: "error",
          reason: "invalid",
          reason_explanation: outcome.outcome.value.explanation ?? null,
          ...around(outcome, options),
        },
      };
    case "unknownList":
      throw fault("not_found", "There is no such check-in list.");
    default:
      throw new Error("checkin sent no decision");
  }
}

function present({ position, documents }: ScanOutcome, { address, names, pdfData, prints, onlyId }: PresentOptions) {
  if (onlyId !== undefined) return { id: onlyId };
  return presentPosition(position, address, { names, documents, pdfData, prints });
}

function around({ list, position, checkinTexts }: ScanOutcome, { explanation }: PresentOptions) {
  return {
    require_attention: position?.requireAttention ?? false,
    checkin_texts: checkinTexts,
    list: presentList(list),
    ...(explanation === undefined ? {} : { explanation: readJson(explanation) }),
  };
}

function presentList(list: ScannedList | undefined) {
  if (list === undefined) throw new Error("checkin decided a scan without naming its list");
  const { id, name, event, subevent = null, includePending } = list;
  return { id, name, event, subevent, include_pending: includePending };
}
