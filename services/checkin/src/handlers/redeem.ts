import type { Db, Queryable } from "@tessera/kit/pg/database";
import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { topics } from "@tessera/protos/topics";
import type { CheckinEvents } from "../events.ts";
import { holdFreePositions } from "../store/free-positions.ts";
import { type AnswerToStore, putGivenAnswers } from "../store/given-answers.ts";
import { type EntityKey, nameOf } from "../store/keys.ts";
import { storeScans } from "../store/scan-writes.ts";
import { encodeGivenAnswer, toAnswersGiven } from "../wire/answers.ts";
import { type ArrivedScan, type DecidedScan, readAndDecide } from "./read-and-decide.ts";
import { behind, overtaken, type Undecided } from "./redeem-batcher.ts";
import { failed, notHere, toOutcome, toRow, unknownList } from "./scan-outcomes.ts";

/**
 * Decides scans together: one read of everything they are decided by, one
 * decision each, one write of everything that follows.
 *
 * Of several scans of one ticket on one list, all behind the first admission
 * are left undecided: what was read is not true for them. So are those that lost
 * their ticket to somebody else between the read and the write. Where no ticket
 * here answers to a code that nobody was asked about yet, the outcome is
 * `notHere` and nothing is stored.
 */
export async function decideScans(
  { db, events }: { readonly db: Db; readonly events: Pick<CheckinEvents, "scansFailed"> },
  arrived: readonly ArrivedScan[],
): Promise<(ScanOutcome | Undecided)[]> {
  const outcomes: (ScanOutcome | Undecided)[] = arrived.map(() => behind);
  const open: { readonly index: number; readonly decided: DecidedScan }[] = [];
  const taken = new Set<string>();
  for (const [index, decision] of (await readAndDecide(db, arrived)).entries()) {
    if (decision === undefined) {
      outcomes[index] = unknownList;
      continue;
    }
    if ("error" in decision) {
      events.scansFailed(decision.error, 1);
      outcomes[index] = failed;
      continue;
    }
    const { verdict, mayBeNew } = decision;
    const place = placeOf(decision);
    if (verdict.outcome === "repeated") outcomes[index] = toOutcome(decision);
    else if (verdict.outcome === "unknown_ticket" && mayBeNew) outcomes[index] = notHere;
    else if (place === undefined || !taken.has(place)) open.push({ index, decided: decision });
    if (place !== undefined && verdict.outcome === "admitted") taken.add(place);
  }
  const decided = open.map((each) => each.decided);
  // Without answers there is one statement, which commits by itself.
  const stored = decided.some(hasAnswers) ? await storeWithAnswers(db, decided) : await store(db, decided);
  if (stored.size > 0) db.wroteOutbox();
  for (const { index, decided: each } of open) outcomes[index] = stored.has(each) ? toOutcome(each) : overtaken;
  return outcomes;
}

/** Answers are stored and told in one transaction with their scans. A ticket that somebody else holds is left to be decided again. */
async function storeWithAnswers(db: Db, decided: readonly DecidedScan[]): Promise<Set<DecidedScan>> {
  const keys = new Map(decided.filter(hasAnswers).map((each) => [nameOf(ticketOf(each)), ticketOf(each)]));
  return db.transaction(async (tx) => {
    const held = new Set((await holdFreePositions(tx, [...keys.values()])).map(nameOf));
    const ready = decided.filter((each) => !hasAnswers(each) || held.has(nameOf(ticketOf(each))));
    const answered = await putGivenAnswers(tx, ready.flatMap(toAnswers));
    await tx.publish(topics.answersGiven, answered.map(toAnswersGiven));
    return store(tx, ready);
  });
}

/** Stores scans, and tells which decisions are true; one that still asks something is not stored, and true. */
async function store(db: Queryable, decided: readonly DecidedScan[]): Promise<Set<DecidedScan>> {
  const final = decided.filter(({ verdict }) => verdict.outcome !== "incomplete");
  if (final.length === 0) return new Set(decided);
  const stored = await storeScans(db, { topic: topics.scanDecided.name, scans: final.map(toRow) });
  const late = new Set(final.filter((_, order) => !stored.has(order)));
  return new Set(decided.filter((each) => !late.has(each)));
}

function hasAnswers({ verdict }: DecidedScan): boolean {
  return "given" in verdict && verdict.given.length > 0;
}

function toAnswers(decided: DecidedScan): AnswerToStore[] {
  const { verdict } = decided;
  if (!("given" in verdict)) return [];
  const key = ticketOf(decided);
  const { answers, answersRevision: takenUpTo = 0 } = verdict.match.position;
  return verdict.given.map((given) => {
    const { question, answer } = given;
    const shown = answers
      .filter((each) => each.question === question)
      .map((each) => [each.answer, each.questionIdentifier, each.options, each.optionIdentifiers, each.file === true]);
    // The text of a file tells what is in it, so another upload of the same is no news.
    const told =
      answer === null
        ? []
        : [[answer.text, answer.questionIdentifier, answer.options, answer.optionIdentifiers, answer.file !== null]];
    const stands = JSON.stringify(shown) === JSON.stringify(told);
    return { ...key, question, state: encodeGivenAnswer(given), takenUpTo, stands };
  });
}

function ticketOf({ scan, verdict }: DecidedScan): EntityKey {
  const { organizer, event } = scan;
  return { organizer, event, id: verdict.outcome === "unknown_ticket" ? 0 : verdict.match.ticket.id };
}

/** Names the ticket on its list, which at most one scan at a time may change. */
function placeOf(decided: DecidedScan): string | undefined {
  if (decided.verdict.outcome === "unknown_ticket") return undefined;
  return `${nameOf(ticketOf(decided))}/${decided.scan.list}`;
}
