import { changeScans, dropScans, waitingScans } from "../offline/kept-scans.ts";
import { type Answer, askServer } from "../server/ask-server.ts";
import type { KeptDevice } from "../set-up/kept-device.ts";
import { readTicket, type Ticket } from "../verdict/verdict.ts";
import type { PastVerdict } from "./last-scans.ts";

export type Found =
  | { readonly kind: "found"; readonly tickets: readonly Ticket[]; readonly hasMore: boolean }
  | { readonly kind: Exclude<Answer["kind"], "answer"> }
  | { readonly kind: "refused"; readonly detail: string };

/** As many as a crew looks through. */
const most = 25;

/** Searches the tickets of the list that is scanned. */
export async function searchTickets(device: KeptDevice, text: string, signal: AbortSignal): Promise<Found> {
  const { organizer, token, chosen, hasListIds } = device;
  const query = `search=${encodeURIComponent(text)}&expand=item&expand=variation&page_size=${most}`;
  const base = `organizers/${organizer}`;
  const path = hasListIds
    ? `${base}/checkinrpc/search/?list=${chosen?.list}&${query}`
    : `${base}/events/${chosen?.event}/checkinlists/${chosen?.list}/positions/?${query}`;
  const answer = await askServer(path, { token, signal });
  if (answer.kind !== "answer") return { kind: answer.kind };
  if (answer.status !== 200) return { kind: "refused", detail: detailOf(answer.body) };
  const { results, next } = answer.body as { readonly results: readonly unknown[]; readonly next: string | null };
  return { kind: "found", tickets: results.flatMap((shown) => readTicket(shown) ?? []), hasMore: next !== null };
}

export type Annulled =
  | { readonly kind: "done" | "late" | Exclude<Answer["kind"], "answer"> }
  | { readonly kind: "refused"; readonly detail: string };

/** Takes a scan of this device back. */
export async function annulScan(device: KeptDevice, { attempt }: PastVerdict, reason: string): Promise<Annulled> {
  const { organizer, token, chosen } = device;
  const only = new Set([attempt.nonce]);
  // It is still to be uploaded, or on its way: the server gets it as one that was taken back.
  if (waitingScans().some(({ nonce }) => nonce === attempt.nonce)) {
    await changeScans(only, { ticket: null, reason: "annulled", wasAsked: true });
    return { kind: "done" };
  }
  const body = { lists: [chosen?.list], nonce: attempt.nonce, error_explanation: reason };
  const answer = await askServer(`organizers/${organizer}/checkinrpc/annul/`, { method: "POST", token, body });
  if (answer.kind !== "answer") return { kind: answer.kind };
  if (answer.status === 200) {
    await dropScans(only);
    return { kind: "done" };
  }
  return answer.status === 404 || answer.status === 400
    ? { kind: "late" }
    : { kind: "refused", detail: detailOf(answer.body) };
}

function detailOf(body: unknown): string {
  const { detail } = (body ?? {}) as { readonly detail?: unknown };
  return typeof detail === "string" ? detail : "";
}
