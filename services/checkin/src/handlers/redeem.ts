import type { Db } from "@tessera/kit/pg/database";
import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { topics } from "@tessera/protos/topics";
import type { GivenAnswer } from "../domain/questions/answer-questions.ts";
import { type AnswerToStore, putGivenAnswers } from "../store/given-answers.ts";
import { lockPositions } from "../store/positions.ts";
import { type ScanToStore, storeScans } from "../store/scan-writes.ts";
import { encodeGivenAnswer, toAnswersGiven } from "../wire-answers.ts";
import { type ArrivedScan, type DecidedScan, readAndDecide } from "./read-and-decide.ts";
import { behind, overtaken, type Undecided } from "./redeem-batcher.ts";
import { notHere, toOutcome, toRow, unknownList } from "./scan-outcomes.ts";

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
export async function decideScans(db: Db, arrived: readonly ArrivedScan[]): Promise<(ScanOutcome | Undecided)[]> {
  const outcomes: (ScanOutcome | Undecided)[] = arrived.map(() => behind);
  const open: { readonly index: number; readonly decided: DecidedScan }[] = [];
  const taken = new Set<string>();
  for (const [index, decided] of (await readAndDecide(db, arrived)).entries()) {
    if (decided === undefined) {
      outcomes[index] = unknownList;
      continue;
    }
    const { verdict, mayBeNew } = decided;
    const place = placeOf(decided);
    if (verdict.outcome === "repeated") outcomes[index] = toOutcome(decided);
    else if (verdict.outcome === "unknown_ticket" && mayBeNew) outcomes[index] = notHere;
    else if (place === undefined || !taken.has(place)) open.push({ index, decided });
    if (place !== undefined && verdict.outcome === "admitted") taken.add(place);
  }
  const stored = await store(
    db,
    open.map(({ decided }) => decided),
  );
  for (const [order, { index, decided }] of open.entries()) {
    outcomes[index] = stored.has(order) ? toOutcome(decided) : overtaken;
  }
  return outcomes;
}

/** Stores what follows from decisions; tells which of them are true, by index. A scan that still asks something is not stored. */
async function store(db: Db, decided: readonly DecidedScan[]): Promise<Set<number>> {
  const rows = decided.map((each) => (each.verdict.outcome === "incomplete" ? null : toRow(each)));
  const scans = rows.filter((row) => row !== null);
  const places = [...rows.keys()].filter((index) => rows[index] !== null);
  const answers = decided.flatMap(toAnswers);
  const written = await (answers.length === 0
    ? storeScansAlone(db, scans)
    : db.transaction(async (tx) => {
        const keys = [...new Map(answers.map((answer) => [placeOfTicket(answer), answer])).values()];
        const held = new Set((await lockPositions(tx, keys)).map(placeOfTicket));
        const answered = await putGivenAnswers(
          tx,
          answers.filter((answer) => held.has(placeOfTicket(answer))),
        );
        await tx.publish(topics.answersGiven, answered.map(toAnswersGiven));
        return storeScans(tx, { topic: topics.scanDecided.name, scans });
      }));
  const late = new Set(places.filter((_, order) => !written.has(order)));
  return new Set([...rows.keys()].filter((index) => !late.has(index)));
}

/** Without answers there is one statement, which commits by itself. */
async function storeScansAlone(db: Db, scans: readonly ScanToStore[]): Promise<Set<number>> {
  if (scans.length === 0) return new Set();
  const written = await storeScans(db, { topic: topics.scanDecided.name, scans });
  if (written.size > 0) db.wroteOutbox();
  return written;
}

function toAnswers({ scan, verdict }: DecidedScan): AnswerToStore[] {
  if (!("given" in verdict)) return [];
  const { organizer, event } = scan;
  const { id } = verdict.match.ticket;
  return verdict.given.map((given: GivenAnswer) => ({
    organizer,
    event,
    id,
    question: given.question,
    state: encodeGivenAnswer(given),
  }));
}

function placeOfTicket({ organizer, event, id }: { organizer: string; event: string; id: number }): string {
  return `${organizer}/${event}/${id}`;
}

/** Names the ticket on its list, which at most one scan at a time may change. */
function placeOf({ scan, verdict }: DecidedScan): string | undefined {
  if (verdict.outcome === "unknown_ticket") return undefined;
  return `${scan.organizer}/${scan.event}/${scan.list}/${verdict.match.ticket.id}`;
}
