import { setTimeout as sleep } from "node:timers/promises";
import type { ArrivedScan } from "@tessera/admission";
import { Fault } from "@tessera/kit/fault";
import type { Call } from "@tessera/kit/rpc";
import { backoff } from "@tessera/kit/waiting/backoff";
import type {
  RedeemManyRequest,
  RedeemManyResponse,
  ScanAnswer,
  ScanOutcome,
} from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { ListPlaces, PlaceOfList } from "../list-places.ts";
import { arrive } from "./arrive.ts";
import { askFirst } from "./ask-first.ts";
import { conflict, type Decision, isOutcome, queuedBehind } from "./decision.ts";
import { fitOutcome, weighOutcome } from "./fit-outcome.ts";
import { crowded, undecided } from "./outcome.ts";
import { patienceMs, type RedeemDeps } from "./redeem.ts";

/** No chunk begins later: the last one may take as long as a single scan. */
const longestMs = 4000;

/** No chunk begins behind answers of this size; with the largest outcomes of one more they fit in a message. */
const mostBytes = 4 * 1024 * 1024;
const mostBytesOfOutcome = 128 * 1024;

/** After this many conflicts the scans of a chunk back off before their next retry. */
const triesAtOnce = 3;
const pauses = { firstMs: 2, longestMs: 50 };

type Waiting = Pick<Call, "signal" | "deadline">;

/** A scan that is to be decided, or the answer to one that cannot be. */
type Sent = ArrivedScan | ScanAnswer;

/**
 * Decides the scans of an upload in order, in chunks: the next chunk begins when every scan of the last one has its
 * outcome. So of one ticket each scan is decided on what the earlier ones have changed, whatever their codes.
 */
export async function redeemMany(
  request: RedeemManyRequest,
  deps: RedeemDeps,
  call: Waiting,
): Promise<RedeemManyResponse> {
  const { isSlim } = request;
  const sent = await readScans(request, deps);
  const open = sent.filter(isScan);
  const decided: ScanAnswer[] = [];
  const until = performance.now() + longestMs;
  let bytes = 0;
  while (decided.length < open.length && performance.now() < until && bytes < mostBytes && !call.signal.aborted) {
    const chunk = await decideChunk(deps, open.slice(decided.length), call);
    if (chunk.length === 0) break;
    for (const { scan, outcome = undecided } of chunk) {
      const { event, id: list } = outcome.list ?? { event: scan.event, id: scan.list };
      deps.events.scanDecided({ organizer: scan.organizer, event, list }, outcome);
      if (!isSlim) bytes += weighOutcome(outcome);
      decided.push(toAnswer(outcome, { isSlim }));
    }
  }
  return { answers: inOrder(sent, decided) };
}

async function readScans({ organizer, scans, among }: RedeemManyRequest, deps: RedeemDeps): Promise<Sent[]> {
  const places = await findPlaces(deps.listPlaces, { organizer, scans, among });
  return scans.map(({ scan, lists }) => {
    if (scan === undefined) throw new Error("a call to redeem has an element without a scan");
    const found = places.get(keyOf(lists));
    if (found === undefined) throw new Error("the lists of a scan were not looked for");
    if ("problems" in found) return { answer: { $case: "invalidLists", value: { problems: [...found.problems] } } };
    const [first, ...others] = found.lists;
    return arrive({ ...scan, organizer, ...first }, { others }, deps) ?? toAnswer(undecided, { isSlim: true });
  });
}

type Found = { readonly lists: readonly PlaceOfList[] } | { readonly problems: readonly string[] };

const keyOf = (lists: readonly number[]) => lists.join();

/** Looks for the lists of all scans: most are on the same. */
async function findPlaces(
  listPlaces: ListPlaces,
  { organizer, scans, among }: Pick<RedeemManyRequest, "organizer" | "scans" | "among">,
): Promise<ReadonlyMap<string, Found>> {
  const asked = new Map(scans.map(({ lists }) => [keyOf(lists), lists]));
  const found = new Map<string, Found>();
  for (const [key, lists] of asked) {
    try {
      found.set(key, { lists: await listPlaces.require({ organizer, lists, among: among?.slugs }) });
    } catch (error) {
      if (!(error instanceof Fault && error.kind === "invalid")) throw error;
      found.set(key, { problems: [...(error.fields?.["lists"] ?? [error.message])] });
    }
  }
  return found;
}

/** A scan of a chunk, and its outcome as soon as it has one. */
interface Open {
  scan: ArrivedScan;
  outcome: ScanOutcome | undefined;
}

/**
 * Decides the first of these scans, as many as one batch has room for, until each has its outcome. Empty: too many others
 * wait.
 */
async function decideChunk(
  deps: RedeemDeps,
  scans: readonly ArrivedScan[],
  { signal, deadline }: Waiting,
): Promise<readonly Open[]> {
  let decisions = await deps.batches.submitTogether(scans, { signal, deadline });
  if (decisions.includes(crowded)) return [];
  const chunk = scans.slice(0, decisions.length).map((scan): Open => ({ scan, outcome: undefined }));
  let open = chunk;
  let until = performance.now() + patienceMs;
  for (let conflicts = 0; ; conflicts = decisions.includes(conflict) ? conflicts + 1 : 0) {
    await Promise.all(
      open.map((each, index) => settle(deps, each, { decision: decisions[index] ?? undecided, until })),
    );
    const left = open.filter(({ outcome }) => outcome === undefined);
    if (left.length < open.length) until = performance.now() + patienceMs;
    open = left;
    if (open.length === 0) return chunk;
    if (performance.now() >= until) for (const each of open) each.outcome = undecided;
    if (conflicts > triesAtOnce) await sleep(backoff(pauses, conflicts - triesAtOnce));
    decisions = await deps.batches.submitTogether(
      open.map(({ scan }) => scan),
      { signal, deadline },
    );
  }
}

/** Notes the outcome of a scan, or what boxoffice says of it before it is decided again. */
async function settle(
  deps: RedeemDeps,
  each: Open,
  { decision, until }: { readonly decision: Decision; readonly until: number },
): Promise<void> {
  if (decision === queuedBehind || decision === conflict) return;
  if (isOutcome(decision)) {
    each.outcome = decision;
    return;
  }
  const asked = await askFirst(deps, { scan: each.scan, needs: decision, until });
  if (asked === undefined) each.outcome = undecided;
  else each.scan = asked;
}

function isScan(sent: Sent): sent is ArrivedScan {
  return "rawCode" in sent;
}

/** Puts answers of decided scans between those of others, up to the first scan that was not decided. */
function inOrder(sent: readonly Sent[], decided: readonly ScanAnswer[]): ScanAnswer[] {
  const answers: ScanAnswer[] = [];
  let next = 0;
  for (const each of sent) {
    const answer = isScan(each) ? decided[next] : each;
    if (answer === undefined) break;
    if (isScan(each)) next += 1;
    answers.push(answer);
  }
  return answers;
}

function toAnswer(outcome: ScanOutcome, { isSlim }: Pick<RedeemManyRequest, "isSlim">): ScanAnswer {
  const shown = isSlim
    ? { ...outcome, position: undefined }
    : fitOutcome({ shown: outcome, bare: outcome, mostBytes: mostBytesOfOutcome });
  return { answer: { $case: "outcome", value: shown }, position: outcome.position?.position?.id };
}
