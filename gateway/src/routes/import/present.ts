import { toProblem } from "../../http/problem.ts";
import type { Reply } from "../../http/route.ts";
import type { ImportFailure } from "../../import/import-stream.ts";

/** Answers an import that ended early: the problem, and the result so far. */
export function presentFailure({ cause, summary }: ImportFailure): Reply {
  const { status, headers, body } = toProblem(cause);
  return { status, headers, body: { ...(body as object), ...summary } };
}
