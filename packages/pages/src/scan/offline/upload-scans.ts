import { type Answer, askServer, connection } from "../server/ask-server.ts";
import { pause } from "../server/pause.ts";
import type { KeptDevice } from "../set-up/kept-device.ts";
import type { KeptScan } from "./kept-scan.ts";
import { changeScans, dropScans, keptScan, loadScans, waitingScans } from "./kept-scans.ts";

/** An upload that is cut off costs little; with twenty a second those of an hour take some minutes. */
const mostAtOnce = 100;
const uploadMs = 20_000;
const pauses = { restMs: 1000, leastMs: 2000, mostMs: 30_000 };
/** A tab that scanned before may store its last scan when this one has begun. */
const lookMs = 10_000;

/** Uploads scans that this page decided, until told to stop. */
export async function uploadScans(device: KeptDevice, stopped: AbortSignal): Promise<void> {
  let pauseMs = pauses.leastMs;
  let lookedAt = performance.now();
  while (!stopped.aborted) {
    await pause(waitingScans().length === 0 || connection.value === "offline" ? pauses.restMs : 0, stopped);
    if (stopped.aborted || connection.value === "offline") continue;
    if (performance.now() - lookedAt > lookMs) {
      await loadScans().catch(() => {});
      lookedAt = performance.now();
    }
    if (waitingScans().length === 0) continue;
    if (await uploadSome(device, stopped)) {
      pauseMs = pauses.leastMs;
      continue;
    }
    await pause(pauseMs * (0.75 + Math.random() / 2), stopped);
    pauseMs = Math.min(pauseMs * 2, pauses.mostMs);
  }
}

/** False: it came to nothing, and is to be tried again later. */
async function uploadSome(device: KeptDevice, stopped: AbortSignal): Promise<boolean> {
  const waiting = waitingScans();
  const isOwn = (scan: KeptScan) => scan.token === device.token;
  const [first] = waiting.some(isOwn) ? waiting.filter(isOwn) : waiting;
  if (first === undefined) return true;
  // What this browser scanned as another device, it uploads as that one.
  const ofOne = waiting.filter(({ token }) => token === first.token);
  const admitted = ofOne.filter(({ ticket }) => ticket !== null).slice(0, mostAtOnce);
  const came = admitted.length > 0 ? await uploadAdmitted(admitted, stopped) : await uploadRefused(first, stopped);
  const isLost = came === "revoked" || came === "unknown";
  // Of a device that has no access any more nothing arrives. If it is this one, the page is emptied.
  if (isLost && !isOwn(first)) await dropScans(new Set(ofOne.map(({ nonce }) => nonce)));
  return came === true;
}

/** Whether all arrived; or why nothing ever will. */
type Came = boolean | "revoked" | "unknown";

function cameTo({ kind }: Answer): Came {
  return kind === "revoked" || kind === "unknown" ? kind : false;
}

interface Uploaded {
  readonly results: readonly {
    readonly status: number;
    readonly body: { readonly status?: string; readonly reason?: string };
  }[];
}

/**
 * Sends who was let in. First the server decides as usual; where it would have refused, the scan is sent again by force,
 * since the visitor is inside, and the crew is told why.
 */
async function uploadAdmitted(scans: readonly KeptScan[], signal: AbortSignal): Promise<Came> {
  const [{ organizer, token } = {}] = scans;
  const body = { scans: scans.map(toSent) };
  const answer = await askServer(`organizers/${organizer}/checkinrpc/redeem_batch/?fields=status,reason`, {
    method: "POST",
    token,
    body,
    timeoutMs: uploadMs,
    signal,
    isLong: true,
  });
  if (answer.kind !== "answer" || answer.status !== 200) return cameTo(answer);
  const { results } = answer.body as Uploaded;
  let isWhole = true;
  for (const [index, { status, body: said }] of results.entries()) {
    const scan = scans[index];
    if (scan === undefined) break;
    if (status === 429 || status >= 500) isWhole = false;
    else await settle(scan, said);
  }
  return isWhole;
}

async function settle(scan: KeptScan, { status, reason }: Uploaded["results"][number]["body"]): Promise<void> {
  // Meanwhile the crew has taken it back: that follows.
  if (keptScan(scan.nonce)?.ticket !== scan.ticket) return;
  const only = new Set([scan.nonce]);
  const since = Date.now();
  const wasForced = scan.force || scan.objection !== undefined;
  if (status === "ok" && scan.objection === undefined) return changeScans(only, { state: "stored", since });
  if (status === "ok" || wasForced)
    return changeScans(only, { state: "doubtful", since, objection: scan.objection ?? reason ?? "error" });
  return changeScans(only, { objection: reason ?? status ?? "error" });
}

function toSent({ code, nonce, type, at, ignoreUnpaid, force, answers, medium, list, objection }: KeptScan) {
  return {
    ...{ lists: [list], secret: code, nonce, type, answers, datetime: new Date(at).toISOString() },
    ...{ force: force || objection !== undefined, ignore_unpaid: ignoreUnpaid, source_type: "barcode" },
    questions_supported: false,
    ...(medium && { exchange_medium_type: medium.type, exchange_medium_identifier: medium.identifier }),
  };
}

/** Sends who was sent away. Where the server may have admitted the ticket, it takes that back first. */
async function uploadRefused(
  { nonce, code, type, at, reason, organizer, token, event, list, wasAsked }: KeptScan,
  signal: AbortSignal,
): Promise<Came> {
  const datetime = new Date(at).toISOString();
  const request = { method: "POST", token, timeoutMs: uploadMs, signal, isLong: true } as const;
  if (wasAsked) {
    // The visitor was sent away then, however long ago that is by now.
    const taken = { lists: [list], nonce, datetime, error_explanation: explanationOf(reason) };
    const annulled = await askServer(`organizers/${organizer}/checkinrpc/annul/`, { ...request, body: taken });
    if (annulled.kind !== "answer") return cameTo(annulled);
    const current = keptScan(nonce);
    if (current === undefined) return true;
    // Meanwhile the ticket was admitted by this nonce. If that was annulled just now, the upload admits it again.
    if (current.ticket !== null) {
      await changeScans(new Set([nonce]), { state: "waiting" });
      return true;
    }
  }
  const said = { error_reason: reason, raw_barcode: code, nonce, datetime, type };
  const path = `organizers/${organizer}/events/${event}/checkinlists/${list}/failed_checkins/`;
  const answer = await askServer(path, { ...request, body: said });
  if (answer.kind !== "answer") return cameTo(answer);
  await dropScans(new Set([nonce]));
  return true;
}

function explanationOf(reason: string): string {
  return reason === "annulled"
    ? "Taken back by the crew, without the network"
    : "Refused by the device, without the network";
}
