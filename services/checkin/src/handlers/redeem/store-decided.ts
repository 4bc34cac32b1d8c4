import { type ArrivedScan, countChange } from "@tessera/admission";
import type { Db, Queryable } from "@tessera/kit/pg/database";
import { topics } from "@tessera/protos/topics";
import type { CheckinReaders } from "../../checkin-readers.ts";
import { readSignedTicket } from "../../domain/signed-ticket.ts";
import { type AnswerToStore, putGivenAnswers } from "../../store/given-answers.ts";
import { nameOf } from "../../store/keys.ts";
import { lockFreePositions } from "../../store/positions.ts";
import type { ScanRead } from "../../store/scan-reads.ts";
import { type ScanToStore, storeScans } from "../../store/store-scans.ts";
import { encodeGivenAnswer, findAppliedUpTo, toAnswersGiven } from "../../wire/answers.ts";
import { toScanFact } from "../../wire/scan-fact.ts";
import { type DecidedScan, refusalOf } from "./outcome.ts";

interface Tools {
  readonly db: Db;
  readonly readers: CheckinReaders;
}

/** A decision with answers to questions. */
interface Answered extends DecidedScan {
  readonly verdict: Extract<DecidedScan["verdict"], { given: unknown }>;
}

/** Stores decisions, and returns those that are final: their ticket and list are unchanged since they were read. */
export async function storeDecided(tools: Tools, decided: readonly DecidedScan[]): Promise<Set<DecidedScan>> {
  // Without answers there is one statement, which commits by itself.
  return decided.some(isAnswered) ? storeWithAnswers(tools, decided) : store(tools, decided);
}

/** Stores scans and their answers in one transaction. A scan whose ticket is locked is left out, and decided again. */
async function storeWithAnswers({ db, readers }: Tools, decided: readonly DecidedScan[]): Promise<Set<DecidedScan>> {
  const keys = new Map(decided.filter(isAnswered).map((each) => [nameOf(ticketOf(each)), ticketOf(each)]));
  return db.transaction(async (tx) => {
    const held = new Set((await lockFreePositions(tx, [...keys.values()])).map(nameOf));
    const ready = decided.filter((each) => !isAnswered(each) || held.has(nameOf(ticketOf(each))));
    const changed = await putGivenAnswers(tx, ready.filter(isAnswered).flatMap(toAnswers));
    await tx.publish(topics.answersGiven, changed.map(toAnswersGiven));
    return store({ db: tx, readers }, ready);
  });
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

/** Whether the scan brings answers to store. */
export function isAnswered(decided: DecidedScan): decided is Answered {
  return "given" in decided.verdict && decided.verdict.given.length > 0;
}

function ticketOf({ scan: { organizer, event }, verdict }: Answered) {
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
