import { toByteaArray } from "@tessera/kit/pg/binary-array";
import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { Scope } from "../domain/scope.ts";
import type { AnswerPlace } from "./answer-files.ts";

/** A position of an event. */
export interface PositionPlace extends Scope {
  readonly id: number;
}

/** An answer that was given at a gate. */
export interface GateAnswer {
  readonly question: number;
  /** An encoded Answer; null where only one is awaited. */
  readonly answer: Uint8Array | null;
  /** An encoded GivenAnswer, which takes its place when its file has been copied. */
  readonly awaited: { readonly revision: number; readonly state: Uint8Array } | null;
}

/** What was answered at gates for a position. */
export interface GateAnswers {
  /** All with a smaller or equal revision have been taken; null: none has. */
  readonly takenUpTo: number | null;
  readonly answers: readonly GateAnswer[];
}

/** A position with what was answered for it at gates; the lock of its event is held. */
export interface StoredAnswers extends GateAnswers {
  /** An encoded Position. */
  readonly state: Uint8Array;
}

/** A position that may change by what is answered for it. */
export interface AnsweredPosition extends PositionPlace, StoredAnswers {
  readonly earlierCheckins: Uint8Array | null;
}

/** Reads positions that have not taken everything up to a revision; those that are gone are left out. */
export async function findBehind(
  tx: Tx,
  wanted: readonly (PositionPlace & { readonly revision: number })[],
): Promise<AnsweredPosition[]> {
  const rows = await tx.many<Omit<AnsweredPosition, "answers">>(sql`
    select position.organizer, position.event, position.id, position.state,
           position.earlier_checkins as "earlierCheckins", position.answers_revision as "takenUpTo"
      from unnest(${wanted.map((place) => place.organizer)}::text[],
                  ${wanted.map((place) => place.event)}::text[],
                  ${wanted.map((place) => place.id)}::bigint[],
                  ${wanted.map((place) => place.revision)}::bigint[]) as wanted (organizer, event, id, revision)
      join position
        on position.organizer = wanted.organizer and position.event = wanted.event and position.id = wanted.id
     where coalesce(position.answers_revision, 0) < wanted.revision`);
  return withAnswers(tx, rows);
}

/** Reads positions. */
export async function findPositions(tx: Tx, places: readonly PositionPlace[]): Promise<AnsweredPosition[]> {
  return findBehind(
    tx,
    places.map(({ organizer, event, id }) => ({ organizer, event, id, revision: Number.MAX_SAFE_INTEGER })),
  );
}

/** Those of some positions for which something was ever answered at a gate. */
export async function findAnswered(
  tx: Tx,
  { organizer, event }: Scope,
  ids: readonly number[],
): Promise<ReadonlyMap<number, StoredAnswers>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.many<{ id: number; takenUpTo: number; state: Uint8Array }>(sql`
    select position.id, position.answers_revision as "takenUpTo", position.state
      from position
     where position.organizer = ${organizer}
       and position.event = ${event}
       and position.id = any(${ids}::bigint[])
       and position.answers_revision is not null`);
  const answered = await withAnswers(
    tx,
    rows.map((row) => ({ organizer, event, ...row })),
  );
  return new Map(answered.map(({ id, takenUpTo, answers, state }) => [id, { takenUpTo, answers, state }]));
}

async function withAnswers<P extends PositionPlace & { readonly takenUpTo: number | null }>(
  tx: Tx,
  positions: readonly P[],
): Promise<(P & GateAnswers)[]> {
  const answered = positions.filter(({ takenUpTo }) => takenUpTo !== null);
  const rows = answered.length === 0 ? [] : await readAnswers(tx, answered);
  const answers = Map.groupBy(rows, (row) => nameOf({ ...row, id: row.position }));
  return positions.map((position) => ({
    ...position,
    answers: (answers.get(nameOf(position)) ?? []).map(({ question, answer, awaited, revision }) => ({
      question,
      answer,
      awaited: awaited === null || revision === null ? null : { revision, state: awaited },
    })),
  }));
}

interface Row extends Scope, AnswerPlace {
  readonly answer: Uint8Array | null;
  readonly awaited: Uint8Array | null;
  readonly revision: number | null;
}

async function readAnswers(tx: Tx, places: readonly PositionPlace[]): Promise<Row[]> {
  return tx.many<Row>(sql`
    select gate_answer.organizer, gate_answer.event, gate_answer.position, gate_answer.question, gate_answer.answer,
           gate_answer.awaited, gate_answer.awaited_revision as revision
      from unnest(${places.map((place) => place.organizer)}::text[],
                  ${places.map((place) => place.event)}::text[],
                  ${places.map((place) => place.id)}::bigint[]) as wanted (organizer, event, id)
      join gate_answer
        on gate_answer.organizer = wanted.organizer and gate_answer.event = wanted.event
           and gate_answer.position = wanted.id`);
}

/** A position as what was answered for it leaves it. */
export interface ChangedState extends PositionPlace {
  readonly state: Uint8Array;
  readonly takenUpTo: number | null;
  readonly isNews: boolean;
}

/** Stores what positions have become, and returns the revisions of those that are news. */
export async function putStates(
  tx: Tx,
  changed: readonly ChangedState[],
): Promise<(PositionPlace & { readonly revision: number })[]> {
  if (changed.length === 0) return [];
  const rows = await tx.many<PositionPlace & { revision: number; is_news: boolean }>(sql`
    update position
       set state = incoming.state,
           answers_revision = incoming.answers_revision,
           revision = case when incoming.is_news then nextval('revision_seq') else position.revision end
      from unnest(${changed.map((row) => row.organizer)}::text[],
                  ${changed.map((row) => row.event)}::text[],
                  ${changed.map((row) => row.id)}::bigint[],
                  ${toByteaArray(changed.map((row) => row.state))}::bytea[],
                  ${changed.map((row) => row.takenUpTo)}::bigint[],
                  ${changed.map((row) => row.isNews)}::boolean[])
           as incoming (organizer, event, id, state, answers_revision, is_news)
     where position.organizer = incoming.organizer
       and position.event = incoming.event
       and position.id = incoming.id
    returning position.organizer, position.event, position.id, position.revision, incoming.is_news`);
  return rows.flatMap(({ organizer, event, id, revision, is_news }) =>
    is_news ? [{ organizer, event, id, revision }] : [],
  );
}

/** Stores answers in the place of earlier ones to the same questions. */
export async function put(
  tx: Tx,
  answers: readonly (Scope & { readonly position: number } & GateAnswer)[],
): Promise<void> {
  if (answers.length === 0) return;
  await tx.run(sql`
    insert into gate_answer (organizer, event, position, question, answer, awaited, awaited_revision)
    select sent.organizer, sent.event, sent.position, sent.question, sent.answer, sent.awaited, sent.awaited_revision
      from unnest(${answers.map((row) => row.organizer)}::text[],
                  ${answers.map((row) => row.event)}::text[],
                  ${answers.map((row) => row.position)}::bigint[],
                  ${answers.map((row) => row.question)}::bigint[],
                  ${toByteaArray(answers.map((row) => row.answer))}::bytea[],
                  ${toByteaArray(answers.map((row) => row.awaited?.state ?? null))}::bytea[],
                  ${answers.map((row) => row.awaited?.revision ?? null)}::bigint[])
           as sent (organizer, event, position, question, answer, awaited, awaited_revision)
        on conflict (organizer, event, position, question) do update
       set answer = excluded.answer,
           awaited = excluded.awaited,
           awaited_revision = excluded.awaited_revision`);
}

/** An answer whose file is to be copied. */
export interface AwaitedAnswer extends Scope, AnswerPlace {
  readonly revision: number;
}

/** Reads the encoded GivenAnswer of an answer whose file is awaited; undefined where it is awaited no more. */
export async function findAwaited(
  db: Queryable,
  { organizer, event, position, question, revision }: AwaitedAnswer,
): Promise<Uint8Array | undefined> {
  const row = await db.maybeOne<{ awaited: Uint8Array }>(sql`
    select gate_answer.awaited
      from gate_answer
     where gate_answer.organizer = ${organizer}
       and gate_answer.event = ${event}
       and gate_answer.position = ${position}
       and gate_answer.question = ${question}
       and gate_answer.awaited_revision = ${revision}`);
  return row?.awaited;
}

/** Names a position among those of all organizers. */
export function nameOf({ organizer, event, id }: PositionPlace): string {
  return `${organizer}/${event}/${id}`;
}
