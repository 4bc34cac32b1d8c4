import type { Tx } from "@tessera/kit/pg/database";
import { identifier, sql } from "@tessera/kit/pg/sql";
import type { Scope } from "../domain/scope.ts";
import type { AnswerPlace } from "./answer-files.ts";

/** Removes what a table holds for these answers. */
export async function removeAt(
  tx: Tx,
  table: "answer_file" | "gate_answer",
  places: readonly (Scope & AnswerPlace)[],
): Promise<void> {
  if (places.length === 0) return;
  await tx.run(sql`
    delete from ${identifier(table)} as held
     using unnest(${places.map((place) => place.organizer)}::text[],
                  ${places.map((place) => place.event)}::text[],
                  ${places.map((place) => place.position)}::bigint[],
                  ${places.map((place) => place.question)}::bigint[]) as gone (organizer, event, position, question)
     where held.organizer = gone.organizer
       and held.event = gone.event
       and held.position = gone.position
       and held.question = gone.question`);
}
