import { eraseResponses, responses } from "@tessera/events/answer-once";
import { countStates } from "@tessera/events/personal-data/count-states";
import { findErasedUntil, isOfErased } from "@tessera/events/personal-data/erased-until";
import { type CountAll, type Erasing, type Holding, holdPersonalData } from "@tessera/events/personal-data/holder";
import { personalFields } from "@tessera/events/personal-data/personal-fields";
import { catalogue, entityKey, topics } from "@tessera/protos/topics";
import { filledFields } from "@tessera/values";
import * as notes from "./store/double-notes.ts";
import * as store from "./store/erase-answers.ts";
import { lockPositions } from "./store/positions.ts";
import { deleteAnswersOf } from "./store/presences.ts";
import { decodePosition } from "./wire/position-messages.ts";

const ticketsAtATime = 500;
const scansAtATime = 2000;

/** Copies are erased by facts: boxoffice publishes each position that it erases something of. Later orders are new. */
const inCopies = Object.keys(topics.positionChanged.personalData)
  .filter((kind) => kind !== "kept")
  .map((kind): Holding => ({ kind, name: "position", leftOfAll: countCopies }));

async function countCopies(...[db, place, kinds]: Parameters<CountAll>) {
  const erased = await findErasedUntil(db, place);
  const all = personalFields(topics.positionChanged, kinds);
  const wanted = Array.from(kinds, (kind) => ({ kind, fields: personalFields(topics.positionChanged, [kind]) }));
  return countStates(db, { table: "position", place }, (state) => {
    const copy = { position: decodePosition(state) };
    // Most copies hold no personal data.
    if (filledFields(copy, all).length === 0) return [];
    const placedAt = copy.position.order?.placedAt ?? null;
    return wanted
      .filter(({ kind, fields }) => isOfErased(erased, kind, placedAt) && filledFields(copy, fields).length > 0)
      .map(({ kind }) => kind);
  });
}

const inScans = store.wordsOfScans.map(
  (word): Holding => ({
    kind: "attendee_info",
    name: `scan.${word}`,
    left: (db, place) => store.countWords(db, place, word),
  }),
);

/** The personal data that check-in holds, and how it is erased. No shredder's file has any of it. */
export const personalData = holdPersonalData({
  requests: topics.shredRequested,
  topics: catalogue,
  holdings: [
    ...inCopies,
    ...inScans,
    {
      kind: "attendee_info",
      name: "double_note.explanation",
      left: (db, place) => notes.countDoubleNotes(db, place),
    },
    {
      kind: "question_answers",
      name: "given_answer.state",
      left: (db, place) => store.countGivenAnswers(db, place),
    },
  ],
  version: store.versionOf,
  async erase(job) {
    if (job.kinds.has("question_answers")) await eraseAnswers(job);
    if (job.kinds.has("attendee_info")) await eraseWords(job);
  },
});

/** Deletes the answers given at gates, and publishes the deletion. The gateway deletes their uploads. */
async function eraseAnswers({ organizer, event, signal, slice }: Erasing): Promise<void> {
  const place = { organizer, event };
  for (let after: number | undefined = 0; after !== undefined; ) {
    signal.throwIfAborted();
    const from: number = after;
    after = await slice(async (tx, count) => {
      const tickets = await store.nextAnsweredOf(tx, place, { after: from, limit: ticketsAtATime });
      // The lock keeps scans from adding an answer between the count and the commit.
      await lockPositions(tx, tickets);
      const answers = await store.countGivenAnswers(tx, place, tickets);
      const answered = await deleteAnswersOf(tx, tickets);
      await tx.retract(
        topics.answersGiven,
        answered.map(({ id }) => entityKey(organizer, event, id)),
      );
      count("question_answers", "given_answer.state", answers);
      return tickets.length < ticketsAtATime ? undefined : tickets.at(-1)?.id;
    });
  }
}

/** Deletes the codes and texts that gates recorded, and the stored answers to reports that quote them. */
async function eraseWords({ organizer, event, signal, slice }: Erasing): Promise<void> {
  const place = { organizer, event };
  for (let after: number | null = 0; after !== null; ) {
    signal.throwIfAborted();
    const from: number = after;
    after = await slice(async (tx, count) => {
      const found = await store.forgetWords(tx, place, { after: from, limit: scansAtATime });
      count("attendee_info", "scan.raw_code", found.rawCodes);
      count("attendee_info", "scan.explanation", found.explanations);
      return found.last;
    });
  }
  for (let emptied = scansAtATime; emptied === scansAtATime; ) {
    signal.throwIfAborted();
    emptied = await slice(async (tx, count) => {
      const found = await notes.forgetDoubleNotes(tx, place, { limit: scansAtATime });
      count("attendee_info", "double_note.explanation", found);
      return found;
    });
  }
  await slice(async (tx, count) => {
    count("attendee_info", responses, await eraseResponses(tx, place));
  });
}
