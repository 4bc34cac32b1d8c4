import { currentContext } from "../context.ts";
import type { Method } from "../rpc.ts";
import type { Db, Queryable, Tx } from "./database.ts";
import { type Sql, sql } from "./sql.ts";

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
  const answered = await db.maybeOne<{ response: Buffer }>(sql`
    select answered_request.response
      from answered_request
     where ${ofRequest(requestId, method)}`);
  return answered && method.responseDeserialize(answered.response);
}

/**
 * Does the work of an RPC in a transaction, once for each request id.
 *
 * The response is stored with the effect. A repeated request gets that response: its caller may have died, or lost the
 * first answer. A repetition that comes while the first is at work waits for it. Work that throws stores nothing. Calls
 * without a request id are not stored.
 */
export function answerOnce<Response>(
  db: Db,
  method: AnsweredMethod<Response>,
  work: (tx: Tx) => Promise<Response>,
): Promise<Response> {
  const { requestId } = currentContext();
  if (requestId === undefined) return db.transaction(work);
  const mine = ofRequest(requestId, method);
  return db.transaction(async (tx) => {
    const isFirst = await tx.run(sql`
      insert into answered_request (request_id, rpc)
      values (${requestId}::uuid, ${method.path})
          on conflict (request_id, rpc) do nothing`);
    if (isFirst === 0) {
      const { response } = await tx.one<{ response: Buffer }>(
        sql`select answered_request.response from answered_request where ${mine}`,
      );
      return method.responseDeserialize(response);
    }
    const response = await work(tx);
    await tx.run(sql`update answered_request set response = ${method.responseSerialize(response)} where ${mine}`);
    return response;
  });
}
