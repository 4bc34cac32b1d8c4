import { setImmediate as nextTurn } from "node:timers/promises";
import { type ArrivedScan, explainScan, findAdmittingGates, findNextAdmission, type Named } from "@tessera/admission";
import type { Clock } from "@tessera/kit/clock";
import type { Reads } from "@tessera/kit/pg/reads";
import type {
  ScanOutcome,
  SimulateScanRequest,
  SimulateScanResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { formatInstant } from "@tessera/values";
import { foreseeLink } from "../../domain/foresee-link.ts";
import { findMedium, isTicketCode } from "../../store/brought-media.ts";
import { listIdsOf } from "../../store/lists.ts";
import { toArrivedScan } from "../../wire/scan-messages.ts";
import type { ListPlaces } from "../list-places.ts";
import type { UnknownTickets } from "./ask-boxoffice.ts";
import { type DeciderTools, isUnknownYet, readAndDecide } from "./decide-batch.ts";
import { expandOutcome } from "./expand-outcome.ts";
import { type DecidedScan, toOutcome, undecided } from "./outcome.ts";
import { toCircumstances } from "./read-scans.ts";

export interface SimulationDeps extends Omit<DeciderTools, "db" | "withIds"> {
  readonly reads: Reads;
  readonly clock: Clock;
  readonly unknownTickets: UnknownTickets;
  readonly listPlaces: ListPlaces;
}

/** A person looks at the answer. */
const mostLists = 100;

/** The rules of these may have 100 000 values, which take milliseconds. Other calls run in between. */
const listsAtOnce = 4;

/** Decides a scan as a gate would, stores nothing, and explains the decision. */
export async function simulateScan(
  { scan, lists, among }: SimulateScanRequest,
  { reads, ...deps }: SimulationDeps,
): Promise<SimulateScanResponse> {
  if (scan === undefined) throw new Error("a simulation has no scan");
  const { clock, unknownTickets, listPlaces } = deps;
  const { organizer } = scan;
  const places = lists.length === 0 ? [scan] : await listPlaces.require({ organizer, lists, among: among?.slugs });
  const [place = scan, ...others] = places;
  const sent = { ...scan, event: place.event, list: place.list };
  const mayBeNew = unknownTickets.mayBeAsked(organizer);
  const arrived = toArrivedScan(sent, { now: clock.now(), traceparent: undefined, others, mayBeNew });
  return reads.inTurn(organizer, async (db) => {
    const tools = { ...deps, db, withIds: false };
    const decided = await decide(arrived, deps, tools);
    if (!("verdict" in decided)) return { outcome: decided, explanation: new Uint8Array() };
    const explanation = await explain(decided, tools);
    const { event, list } = decided.scan;
    const outcome = toOutcome(decided, { isStored: false });
    const shown = await expandOutcome(db, { scan: { ...scan, event, list }, outcome });
    return { outcome: shown, explanation: new TextEncoder().encode(JSON.stringify(explanation)) };
  });
}

async function decide(
  scan: ArrivedScan,
  { unknownTickets, clock }: Pick<SimulationDeps, "unknownTickets" | "clock">,
  tools: DeciderTools,
) {
  const [decided = undecided] = await readAndDecide(tools, [scan]);
  if (!("verdict" in decided)) return decided;
  if (!isUnknownYet(decided)) return exchange(decided, { clock, tools });
  if (!(await unknownTickets.fetch(scan))) return undecided;
  const [again = undecided] = await readAndDecide(tools, [{ ...scan, mayBeNew: false }]);
  return "verdict" in again ? exchange(again, { clock, tools }) : again;
}

/** Decides with what boxoffice would say of the medium that was brought: it is not asked, as it would link it. */
async function exchange(
  decided: DecidedScan,
  { clock, tools }: { readonly clock: Clock; readonly tools: DeciderTools },
): Promise<DecidedScan | ScanOutcome> {
  const { scan, verdict } = decided;
  if (verdict.outcome !== "exchange" || verdict.medium === null) return decided;
  const { organizer, event } = scan;
  const { medium } = verdict;
  const { id: ticket } = verdict.match.ticket;
  const brought = { organizer, event, position: ticket, type: medium.type, identifier: medium.identifier };
  const result = foreseeLink({
    policy: verdict.terms.policy,
    medium: await findMedium(tools.db, brought),
    isTicketCode: await isTicketCode(tools.db, brought),
    now: clock.now(),
  });
  const [again = undecided] = await readAndDecide(tools, [
    { ...scan, others: [], medium: { ...medium, answer: { event, ticket, result } } },
  ]);
  return again;
}

async function explain({ scan, read, verdict }: DecidedScan, tools: DeciderTools) {
  const about = toCircumstances(scan, { read, readers: tools.readers });
  const rules = about.rules === null ? null : parse(read.list.rules);
  const explanation = explainScan(scan, { about, rules, verdict });
  const next = verdict.outcome === "refused" ? findNextAdmission(scan, about) : undefined;
  // Long rules take milliseconds each time.
  await nextTurn();
  const gates = findAdmittingGates(scan, { about, rules });
  const lists = await findAdmittingLists(scan, tools);
  return { ...explanation, admitted_at: next === undefined ? null : formatInstant(next), gates, lists };
}

/** Rules that cannot be read admit no ticket. */
function parse(rules: string): unknown {
  try {
    return JSON.parse(rules);
  } catch {
    return null;
  }
}

/** Finds the other lists of the event that would admit the scan now. */
async function findAdmittingLists(scan: ArrivedScan, tools: DeciderTools): Promise<Named[]> {
  const ids = await listIdsOf(tools.db, { ...scan, most: mostLists });
  const elsewhere = ids
    .filter((list) => list !== scan.list)
    .map((list) => ({ ...scan, list, others: [], nonce: null }));
  const decided = [];
  for (let at = 0; at < elsewhere.length; at += listsAtOnce)
    decided.push(...(await readAndDecide(tools, elsewhere.slice(at, at + listsAtOnce))));
  return decided.flatMap((each) =>
    "verdict" in each && each.verdict.outcome === "admitted" ? [{ id: each.scan.list, name: each.read.list.name }] : [],
  );
}
