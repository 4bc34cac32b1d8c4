import { currentContext } from "@tessera/kit/context";
import type { Db, Queryable, Tx } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import type { Method } from "@tessera/kit/rpc";
import type { EventKey } from "./entity-key.ts";
import { fault } from "./faults.ts";
import { isErased } from "./personal-data/erased-kinds.ts";

type AnsweredMethod<Response> = Pick<Method<never, Response>, "path" | "responseSerialize" | "responseDeserialize">;

function ofRequest(requestId: string, { path }: Pick<Method<never, never>, "path">): Sql {
  return sql`answered_request.request_id = ${requestId}::uuid and answered_request.rpc = ${path}`;
}

/** Finds the response to a request that was answered before, so that a repetition does nothing outside of its transaction. */
export async function findAnswer<Response>(
  db: Queryable,
  method: AnsweredMethod<Response>,
): Promise<Response | undefined> {
  const { requestId } = currentContext();
  if (requestId === undefined) return undefined;
  const answered = await db.maybeOne<AnsweredRow>(sql`
    select answered_request.response
      from answered_request
     where ${ofRequest(requestId, method)}`);
  return answered && read(answered, method);
}

interface AnsweredRow {
  /** Null: it was erased. */
  readonly response: Buffer | null;
}

function read<Response>({ response }: AnsweredRow, method: AnsweredMethod<Response>): Response {
  if (response === null) throw fault("answer_erased", "This was done, and its answer was erased with personal data.");
  return method.responseDeserialize(response);
}

/**
 * Does the work of an RPC in a transaction, once for each request id.
 *
 * The response is stored with the effect. A repeated request gets that response: its caller may have died, or lost the
 * first answer. A repetition that comes while the first is at work waits for it. Work that throws stores nothing. Calls
 * without a request id are not stored. `of` is the event whose personal data the response may show. Where one of the kinds
 * that it `repeats` from its request was erased, it is not stored: it would bring them back.
 */
export function answerOnce<Response>(
  db: Db,
  method: AnsweredMethod<Response>,
  work: (tx: Tx) => Promise<Response>,
  { of, repeats = [] }: { readonly of?: EventKey; readonly repeats?: readonly string[] } = {},
): Promise<Response> {
  const { requestId } = currentContext();
  if (requestId === undefined) return db.transaction(work);
  const mine = ofRequest(requestId, method);
  return db.transaction(async (tx) => {
    const isFirst = await tx.run(sql`
      insert into answered_request (request_id, rpc, organizer, event)
      values (${requestId}::uuid, ${method.path}, ${of?.organizer ?? null}, ${of?.event ?? null})
          on conflict (request_id, rpc) do nothing`);
    if (isFirst === 0) {
      const answered = await tx.one<AnsweredRow>(
        sql`select answered_request.response from answered_request where ${mine}`,
      );
      return read(answered, method);
    }
    const response = await work(tx);
    const named = { organizer: sql`answered_request.organizer`, event: sql`answered_request.event` };
    await tx.run(sql`
      update answered_request
         set response = case when not ${isErased(named, repeats)} then ${method.responseSerialize(response)}::bytea end
       where ${mine}`);
    return response;
  });
}

/** What holds the responses, for the counts of an erasure. */
export const responses = "answered_request.response";

/** Erases the responses that show personal data of an event, and returns how many. A repeated request is refused: it was done. */
export async function eraseResponses(tx: Tx, { organizer, event }: EventKey): Promise<number> {
  return tx.run(sql`
    update answered_request
       set response = null
     where answered_request.organizer = ${organizer}
       and answered_request.event = ${event}
       and answered_request.response is not null`);
}
