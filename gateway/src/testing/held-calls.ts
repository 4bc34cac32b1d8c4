import { Fault } from "@tessera/kit/fault";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { RedeemRequest, RedeemResponse, Scan, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { type EventPlace, type Placed, placing } from "../placed.ts";
import { gatherScans } from "../routes/redeem/gather-scans.ts";

/** A scan of a code; by default without a nonce. */
export function scan(lookup: string, nonce?: string, organizer = "o"): Scan {
  return {
    organizer,
    event: "e",
    list: 1,
    lookup,
    untrustedInput: false,
    type: ScanType.ENTRY,
    force: false,
    ignoreUnpaid: false,
    canceledSupported: false,
    questionsSupported: true,
    answers: [],
    sourceType: "barcode",
    nonce,
  };
}

/** A scan as a route makes it. */
function placedScan({ organizer, event, ...said }: Scan): Placed<Scan> {
  return placing<EventPlace>({ organizer, event })<Scan>(said);
}

/** Says in the outcome whose it is. */
export const outcomeOf = ({ lookup }: Scan): ScanOutcome => ({
  outcome: { $case: "refused", value: { reason: lookup } },
  list: undefined,
  position: undefined,
  checkinTexts: [],
});

/** What `outcomeOf` has said. */
export const reasonOf = ({ outcome }: ScanOutcome) =>
  outcome?.$case === "refused" ? outcome.value.reason : outcome?.$case;

/** An outcome that decides nothing. */
export const without = ($case: "failed" | "undecided" | "crowded"): ScanOutcome => ({
  ...outcomeOf(scan("")),
  outcome: { $case, value: {} },
});

/** A call of the service, to be answered by the test. */
interface Call {
  readonly lookups: string[];
  readonly ages: (number | undefined)[];
  readonly patienceMs: number;
  readonly isAnswered: boolean;
  answer(response?: RedeemResponse): void;
  fail(error: unknown): void;
}

/** A service whose calls a test answers when it likes. Unless a test says otherwise, each scan is worth a second call, and none waits too long. */
export function heldCalls({ worthAnother = 1, longestWaitMs = Number.POSITIVE_INFINITY } = {}): {
  calls: Call[];
  redeem: (scan: Scan, isGone?: () => boolean) => Promise<ScanOutcome>;
} {
  const calls: Call[] = [];
  const gathered = gatherScans(
    (request: RedeemRequest) =>
      new Promise<RedeemResponse>((resolve, reject) => {
        calls.push({
          lookups: request.scans.map(({ lookup }) => lookup),
          ages: request.scans.map(({ ageMs }) => ageMs),
          patienceMs: request.patienceMs ?? 0,
          isAnswered: false,
          answer(response = { outcomes: request.scans.map(outcomeOf) }) {
            Object.assign(this, { isAnswered: true });
            resolve(response);
          },
          fail: reject,
        });
      }),
    // Tests set the clock: the process only seems to stand still.
    { worthAnother, longestWaitMs, standstill: { untilKnown: () => undefined } },
  );
  // Each organizer has one credential.
  return { calls, redeem: (sent, isGone) => gathered.redeem(placedScan(sent), sent.organizer, isGone) };
}

/** How a call fails whose service is away. */
export const unavailable = () => new Fault("unavailable", "peer_unavailable", "the service cannot be reached");

/** So many codes. */
export const numbered = (count: number) => Array.from({ length: count }, (_, index) => String(index));

/** Answers all calls, also those that follow. */
export async function answerAll(calls: readonly Call[], before: () => void = () => {}): Promise<void> {
  for (let answered = 0; answered < calls.length; answered += 1) {
    if (!calls[answered]?.isAnswered) before();
    calls[answered]?.answer();
    await turn();
  }
}

/** Lets everything go on that waits for nothing. */
export const turn = () => new Promise((resolve) => setImmediate(resolve));
