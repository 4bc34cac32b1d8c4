import { canDecideHere, type DecidedHere, decideHere } from "./offline/decide-here.ts";
import type { KeptScan } from "./offline/kept-scan.ts";
import { dropScans, keepScan, keptScan } from "./offline/kept-scans.ts";
import { type Attempt, type Happening, isReadAgain, type Trouble } from "./one-scan.ts";
import { type Answer, askServer, connection, slowMs } from "./server/ask-server.ts";
import type { ChosenList, KeptDevice } from "./set-up/kept-device.ts";
import { readVerdict, type Verdict } from "./verdict/verdict.ts";

/** How long a crew waits for a verdict; within it a failed request is sent again. */
const verdictMs = 8000;

/** Without a network that wait is shorter: the crew has to find another way. */
const offlineMs = 2500;

const pauseMs = 500;

/** A device whose list is chosen. */
interface ScanningDevice extends KeptDevice {
  readonly chosen: ChosenList;
}

interface Listener {
  tell(happening: Happening): void;
  /** The device may scan no more. */
  lose(why: "revoked" | "unknown"): void;
}

/**
 * Has a scan decided, and tells what happens. Where there is a copy of the event, the server has a moment for it, and where
 * there is no network not even that; then this page decides.
 */
export async function sendScan(attempt: Attempt, kept: KeptDevice, listener: Listener): Promise<void> {
  const { chosen } = kept;
  if (chosen === null) return;
  const device = { ...kept, chosen };
  const { tell, lose } = listener;
  if (!canDecideHere(device)) return askUntilDecided(attempt, device, listener);
  const wasAsked = connection.value !== "offline";
  const answer = wasAsked ? await redeem(attempt, device, slowMs) : undefined;
  if (answer?.kind === "revoked" || answer?.kind === "unknown") return lose(answer.kind);
  const verdict = answer?.kind === "answer" ? readVerdict(answer.body) : undefined;
  if (verdict !== undefined) {
    noteAnswer(attempt, device, verdict);
    return tell({ what: "answered", nonce: attempt.nonce, verdict });
  }
  const decided = tryHere(attempt, device);
  if (decided === undefined) return askUntilDecided(attempt, device, listener);
  const { kind, reason } = decided.verdict;
  // Questions and exchanges are no end of a scan, and neither is one of two readings of a code.
  const isEnd = kind === "admitted" || (kind === "refused" && !isReadAgain(attempt, decided.verdict));
  // The server may have admitted an earlier request with this nonce.
  const wasEverAsked = wasAsked || keptScan(attempt.nonce)?.wasAsked === true;
  const outcome = { ticket: decided.admitted, reason, wasAsked: wasEverAsked, state: "waiting" } as const;
  if (isEnd) await keepScan({ ...toKept(attempt, device), ...outcome });
  tell({ what: "answered", nonce: attempt.nonce, verdict: decided.verdict });
}

/** What this page cannot decide, because its copy is torn or has what only a newer page reads, the server has to. */
function tryHere(attempt: Attempt, device: KeptDevice): DecidedHere | undefined {
  try {
    return decideHere(attempt, device);
  } catch {
    return undefined;
  }
}

/** Asks the server until it answers, or the crew has waited long enough. The nonce makes repetitions harmless. */
async function askUntilDecided(attempt: Attempt, device: ScanningDevice, { tell, lose }: Listener): Promise<void> {
  const { nonce } = attempt;
  const started = performance.now();
  const slow = setTimeout(() => tell({ what: "slow", nonce }), slowMs);
  try {
    for (;;) {
      const left = Math.round(verdictMs - (performance.now() - started));
      const answer = await redeem(attempt, device, Math.max(left, 1000));
      const verdict = answer.kind === "answer" ? readVerdict(answer.body) : undefined;
      if (answer.kind === "revoked" || answer.kind === "unknown") return lose(answer.kind);
      if (verdict !== undefined) {
        noteAnswer(attempt, device, verdict);
        return tell({ what: "answered", nonce, verdict });
      }
      const trouble: Trouble = answer.kind === "offline" ? "network" : "server";
      const pause = answer.kind === "busy" ? answer.retryAfterMs : pauseMs;
      const limit = trouble === "network" ? offlineMs : verdictMs;
      if (answer.kind === "answer" || performance.now() - started + pause > limit)
        return tell({ what: "gave-up", nonce, trouble });
      tell({ what: "failed", nonce, trouble });
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  } finally {
    clearTimeout(slow);
  }
}

/** Keeps what the server has admitted until the feed tells it, for the moment when the network is away. */
function noteAnswer(attempt: Attempt, device: ScanningDevice, { kind, ticket }: Verdict): void {
  if (kind === "admitted" && ticket !== undefined)
    void keepScan({ ...toKept(attempt, device), ticket: ticket.id, reason: "", wasAsked: true, state: "stored" });
  else void dropScans(new Set([attempt.nonce]));
}

function toKept(
  { nonce, code, type, at, ignoreUnpaid, force, answers, medium }: Attempt,
  { organizer, token, chosen: { event, list } }: ScanningDevice,
): Omit<KeptScan, "ticket" | "reason" | "wasAsked" | "state"> {
  const sent = { nonce, code, type, at, ignoreUnpaid, force, answers, medium };
  return { ...sent, organizer, token, event, list, since: Date.now() };
}

function redeem(attempt: Attempt, device: ScanningDevice, timeoutMs: number): Promise<Answer> {
  const { code, nonce, type, at, force, ignoreUnpaid, answers, medium } = attempt;
  const { organizer, token, chosen, hasListIds } = device;
  const expand = "expand=item&expand=variation";
  const said = {
    ...{ nonce, type, force, answers, ignore_unpaid: ignoreUnpaid, datetime: new Date(at).toISOString() },
    ...{ questions_supported: true, source_type: "barcode" },
    ...(medium && { exchange_medium_type: medium.type, exchange_medium_identifier: medium.identifier }),
  };
  const request = { method: "POST", token, timeoutMs } as const;
  if (hasListIds) {
    const body = { ...said, secret: code, lists: [chosen.list] };
    return askServer(`organizers/${organizer}/checkinrpc/redeem/?${expand}`, { ...request, body });
  }
  const list = `organizers/${organizer}/events/${chosen.event}/checkinlists/${chosen.list}`;
  return askServer(`${list}/positions/${encodeURIComponent(code)}/redeem/?untrusted_input&${expand}`, {
    ...request,
    body: { ...said, canceled_supported: true },
  });
}
