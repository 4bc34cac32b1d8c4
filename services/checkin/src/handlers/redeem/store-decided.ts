import { type ArrivedScan, afterScan, countChange } from "@tessera/admission";
import type { Db, Queryable } from "@tessera/kit/pg/database";
import { topics } from "@tessera/protos/topics";
import { readSignedTicket } from "../../domain/signed-ticket.ts";
import { type AnswerToStore, putGivenAnswers } from "../../store/given-answers.ts";
import { type EntityKey, nameOf } from "../../store/keys.ts";
import { findLeftLists } from "../../store/left-lists.ts";
import { lockCounts } from "../../store/persons-inside.ts";
import { lockFreePositions } from "../../store/positions.ts";
import type { ScanRead } from "../../store/scan-reads.ts";
import { type ScanToStore, storeScans } from "../../store/store-scans.ts";
import { encodeGivenAnswer, findAppliedUpTo, toAnswersGiven } from "../../wire/answers.ts";
import { toScanFact } from "../../wire/scan-fact.ts";
import type { CheckinReaders } from "./checkin-readers.ts";
import { type DecidedScan, refusalOf } from "./outcome.ts";

interface Tools {
  readonly db: Db;
  readonly readers: CheckinReaders;
}

/** A decision with answers to questions. */
interface Answered extends DecidedScan {
  readonly verdict: Extract<DecidedScan["verdict"], { given: unknown }>;
}

interface Admitted extends DecidedScan {
  readonly verdict: Extract<DecidedScan["verdict"], { outcome: "admitted" }>;
}

type Matched = Answered | Admitted;

/** Stores decisions, and returns those that are final: their ticket and list are unchanged since they were read. */
export async function storeDecided(tools: Tools, decided: readonly DecidedScan[]): Promise<Set<DecidedScan>> {
  // Otherwise there is one statement, which commits by itself.
  return decided.some(changesMore) ? storeWithMore(tools, decided) : store(tools, decided);
}

/** Whether the scan changes more of its ticket than its presence on the list. */
function changesMore(decided: DecidedScan): decided is Matched {
  return isAnswered(decided) || isMove(decided);
}

/**
 * Stores scans, their answers, and the exits from lists that tickets leave by entering another one, in one transaction. A scan whose
 * ticket is locked is left out, and decided again.
 */
async function storeWithMore({ db, readers }: Tools, decided: readonly DecidedScan[]): Promise<Set<DecidedScan>> {
  const keys = new Map(decided.filter(changesMore).map((each) => [nameOf(ticketOf(each)), ticketOf(each)]));
  return db.transaction(async (tx) => {
    const held = new Set((await lockFreePositions(tx, [...keys.values()])).map(nameOf));
    const ready = decided.filter((each) => !changesMore(each) || held.has(nameOf(ticketOf(each))));
    const moves = ready.filter(isMove);
    if (moves.length > 0) await lockCounts(tx, ready.flatMap(listsOf));
    const answered = ready.filter(isAnswered);
    if (answered.length > 0) {
      const changed = await putGivenAnswers(tx, answered.flatMap(toAnswers));
      await tx.publish(topics.answersGiven, changed.map(toAnswersGiven));
    }
    const stored = await store({ db: tx, readers }, ready);
    await leaveLists(
      tx,
      moves.filter((move) => stored.has(move)),
    );
    return stored;
  });
}

/** Stores the exits that come with entries. A list that is deleted meanwhile has nothing to leave. */
async function leaveLists(tx: Queryable, moves: readonly Admitted[]): Promise<void> {
  if (moves.length === 0) return;
  const left = await findLeftLists(
    tx,
    moves.map(({ scan: { organizer, event, list, at }, verdict }) => ({
      ...{ organizer, event, list, at, position: verdict.match.ticket.id },
    })),
  );
  if (left.length === 0) return;
  const exits = left.flatMap(({ move, list, at, scanId: id, presence: before }): ScanToStore[] => {
    const entry = moves[move];
    if (entry === undefined) return [];
    const { organizer, event, deviceId, gate } = entry.scan;
    const exit = { organizer, event, list, id, position: entry.verdict.match.ticket.id, type: "exit", at } as const;
    const presence = afterScan(before, exit);
    const fact = toScanFact({ ...exit, reason: null });
    return [
      {
        ...{ ...exit, deviceId, gate, isAutomatic: true, isLimited: true, refusal: null },
        admission: { presence, ...countChange(before, presence) },
        fact: { ...fact, traceparent: entry.scan.traceparent },
      },
    ];
  });
  await storeScans(tx, { topic: topics.scanDecided.name, scans: exits });
}

function listsOf({ scan: { organizer, event, list }, read }: DecidedScan): EntityKey[] {
  return [list, ...read.list.takesFrom].map((id) => ({ organizer, event, id }));
}

/** A scan with open questions, or without the medium it needs, is not stored, and its decision is final. */
async function store(
  { db, readers }: { readonly db: Queryable; readonly readers: CheckinReaders },
  decided: readonly DecidedScan[],
): Promise<Set<DecidedScan>> {
  const final = decided.filter(({ verdict: { outcome } }) => outcome !== "incomplete" && outcome !== "exchange");
  if (final.length === 0) return new Set(decided);
  const stored = await storeScans(db, {
    topic: topics.scanDecided.name,
    scans: final.map((each) => toScanToStore(each, readers)),
  });
  const late = new Set(final.filter((_, index) => !stored.has(index)));
  return new Set(decided.filter((each) => !late.has(each)));
}

/** Whether the ticket may leave other lists by this entry. */
function isMove(decided: DecidedScan): decided is Admitted {
  const { scan, read, verdict } = decided;
  const { takesFrom, isTakenFrom } = read.list;
  return verdict.outcome === "admitted" && scan.type === "entry" && (takesFrom.length > 0 || isTakenFrom);
}

/** Whether the scan brings answers to store. */
export function isAnswered(decided: DecidedScan): decided is Answered {
  return "given" in decided.verdict && decided.verdict.given.length > 0;
}

function ticketOf({ scan: { organizer, event }, verdict }: Matched) {
  return { organizer, event, id: verdict.match.ticket.id };
}

function toAnswers(decided: Answered): AnswerToStore[] {
  const { given, match } = decided.verdict;
  const { answers } = match.position;
  return given.map((change) => {
    const { question, answer } = change;
    const shown = answers
      .filter((each) => each.question === question)
      .map((each) => [each.answer, each.questionIdentifier, each.options, each.optionIdentifiers, each.file === true]);
    // The text of a file answer is the digest of its content, so another upload of the same content changes nothing.
    const sent =
      answer === null
        ? []
        : [[answer.text, answer.questionIdentifier, answer.options, answer.optionIdentifiers, answer.file !== null]];
    const isUnchanged = JSON.stringify(shown) === JSON.stringify(sent);
    const appliedUpTo = findAppliedUpTo(match.position, question);
    return { ...ticketOf(decided), question, state: encodeGivenAnswer(change), appliedUpTo, isUnchanged };
  });
}

function toScanToStore({ scan, read, verdict }: DecidedScan, readers: CheckinReaders): ScanToStore {
  const id = read.scanId;
  const position = verdict.outcome === "unknown_ticket" ? null : verdict.match.ticket.id;
  const refusal = refusalOf(verdict) ?? null;
  const notes =
    verdict.outcome === "admitted" ? { overruled: verdict.overruled, isOutOfOrder: verdict.isOutOfOrder } : {};
  return {
    ...scan,
    id,
    position,
    rawCode: isCodeKept(verdict, scan) ? scan.rawCode : null,
    ...(verdict.outcome === "unknown_ticket" ? readSigned(scan, { read, readers }) : {}),
    forced: verdict.outcome === "admitted" ? verdict.overruled !== null : scan.force,
    ...notes,
    forceSent: scan.force,
    isLimited: read.list.count !== null,
    refusal,
    admission:
      verdict.outcome === "admitted"
        ? { presence: verdict.presence, ...countChange(verdict.match.presence, verdict.presence) }
        : null,
    fact: {
      ...toScanFact({ ...scan, id, position, reason: refusal?.reason ?? null, ...notes }),
      traceparent: scan.traceparent,
    },
  };
}

/** What an unknown code says of its ticket, if the event has signed it. */
function readSigned(
  { code }: ArrivedScan,
  { read: { ticketKeys }, readers }: { readonly read: ScanRead; readonly readers: CheckinReaders },
): Pick<ScanToStore, "rawItem" | "rawVariation" | "rawSubevent"> {
  if (code === null || ticketKeys === null) return {};
  const ticket = readSignedTicket(code, readers.ticketKeys(ticketKeys));
  return ticket === undefined
    ? {}
    : { rawItem: ticket.item, rawVariation: ticket.variation, rawSubevent: ticket.subevent };
}

/** Refusals, admissions by another code than the ticket's own, and scans with a nonce are recognized by it. */
function isCodeKept(verdict: DecidedScan["verdict"], { nonce }: DecidedScan["scan"]): boolean {
  return verdict.outcome !== "admitted" || nonce !== null || ["medium", "revoked"].includes(verdict.match.foundBy);
}
