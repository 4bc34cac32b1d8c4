import { type ArrivedScan, type CopiedMatch, createReaders, decideFromCopy, type ItemInFeed } from "@tessera/admission";
import type { Attempt } from "../one-scan.ts";
import type { KeptDevice } from "../set-up/kept-device.ts";
import type { PastScan, Question, Ticket, Verdict } from "../verdict/verdict.ts";
import { heldCopy } from "./event-copy.ts";
import { ownScans } from "./kept-scans.ts";

/** A decision of this page. */
export interface DecidedHere {
  readonly verdict: Verdict;
  /** The ticket that is let in or out. */
  readonly admitted: number | null;
}

const readers = createReaders();

/** Whether scans can be decided without the server. */
export function canDecideHere({ organizer, chosen, hasListIds }: KeptDevice): boolean {
  const { value } = heldCopy;
  if (!hasListIds || chosen === null || value?.organizer !== organizer) return false;
  const { slug, event, entities } = value.copy;
  // An old browser may lack the time zone that rules go by.
  return slug === chosen.event && entities.list.has(chosen.list) && readers.zone(event?.timezone ?? "") !== null;
}

/** Decides a scan as the server does, by the copy of the event. Undefined: the copy says nothing of its list. */
export function decideHere(attempt: Attempt, device: KeptDevice): DecidedHere | undefined {
  const copy = heldCopy.value?.copy;
  if (copy === undefined || device.chosen === null || !canDecideHere(device)) return undefined;
  const scan = toArrived(attempt, device, device.chosen);
  const verdict = decideFromCopy(copy, scan, { readers, own: ownScans(device.organizer) });
  const list = copy.entities.list.get(scan.list);
  if (verdict === undefined) return undefined;
  const shown = {
    ...{ isHere: true, explanation: undefined, attention: false, texts: [], ticket: undefined, questions: [] },
    includesPending: list?.include_pending === true,
  } as const;
  if (verdict.outcome === "unknown_ticket")
    return {
      verdict: {
        ...{ ...shown, kind: "refused", reason: verdict.isRevoked ? "revoked" : "invalid" },
        explanation: verdict.explanation ?? undefined,
      },
      admitted: null,
    };
  const { match } = verdict;
  const ofTicket = { ...shown, ...aboutTicket(match) };
  switch (verdict.outcome) {
    case "admitted":
    case "repeated":
      return { verdict: { ...ofTicket, kind: "admitted", reason: "" }, admitted: match.ticket.id };
    case "incomplete": {
      const questions = verdict.missing.map(({ document }) => JSON.parse(document) as Question);
      return { verdict: { ...ofTicket, kind: "questions", reason: "incomplete", questions }, admitted: null };
    }
    case "exchange":
      // Boxoffice has to link the medium.
      return { verdict: { ...ofTicket, kind: "exchange", reason: "exchange" }, admitted: null };
    case "refused": {
      const { reason, explanation } = verdict;
      // A code that was replaced tells nothing of its ticket.
      const about = reason === "revoked" ? shown : ofTicket;
      return { verdict: { ...about, kind: "refused", reason, explanation: explanation ?? undefined }, admitted: null };
    }
  }
}

function toArrived(
  attempt: Attempt,
  { organizer, number, gateId }: KeptDevice,
  { event, list }: { readonly event: string; readonly list: number },
): ArrivedScan {
  const { code, type, at, nonce, force, ignoreUnpaid, answers, medium = null } = attempt;
  return {
    ...{ organizer, event, list, others: [], type, at: at * 1000, code, rawCode: code, ticketId: null },
    ...{ sourceType: "barcode", nonce, deviceId: number, gate: gateId, force, ignoreUnpaid, canceledSupported: true },
    ...{ questionsSupported: true, useOrderLocale: false, medium, traceparent: null, mayBeNew: false },
    answers: Object.entries(answers).map(([question, value]) => ({ question: Number(question), value, file: null })),
  };
}

/** What a crew sees of a ticket: a copy has no name, no seat and no order. */
function aboutTicket({ ticket, item, past }: CopiedMatch): Pick<Verdict, "attention" | "texts" | "ticket"> {
  const variation = item?.variations.find(({ id }) => id === ticket.variation);
  const shown: Ticket = {
    id: ticket.id,
    ...{ order: "", name: undefined, seat: undefined, secret: "", status: ticket.orderStatus },
    product: item?.name ?? "",
    variation: variation?.value,
    checkins: past.map(toPast),
  };
  return {
    attention: ticket.requireAttention || item?.checkin_attention === true || variation?.checkin_attention === true,
    texts: textsOf(item, variation),
    ticket: shown,
  };
}

function toPast({ at, type, gate = null, device = null }: CopiedMatch["past"][number]): PastScan {
  return { datetime: new Date(at / 1000).toISOString(), type, gate, device_id: device };
}

function textsOf(item: ItemInFeed | undefined, variation: ItemInFeed["variations"][number] | undefined): string[] {
  return [variation?.checkin_text, item?.checkin_text].flatMap((text) => text || []);
}
