import type { Db } from "@tessera/kit/pg/database";
import type {
  FindReadinessRequest,
  FindReadinessResponse,
  ListEndingRequest,
  ListEndingResponse,
  Ending as SentEnding,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/shredding";
import { refuseShredding } from "../domain/refuse-shredding.ts";
import { fault } from "../faults.ts";
import { type Ending, findEnding, nextEndings } from "../store/erase-documents.ts";

/** Whether the personal data of an event may be erased. */
export async function findReadiness(
  request: FindReadinessRequest,
  { db }: { readonly db: Db },
): Promise<FindReadinessResponse> {
  const ending = await findEnding(db, request);
  if (ending === undefined) throw fault("no_such_event", "there is no such event");
  return { problem: refuseShredding(ending), ending: toMessage(ending) };
}

/** Events read per page, whether they are shown or not. */
const pageSize = 200;

/** Reads a page of the events of an organizer, and shows those that end before an instant. */
export async function listEnding(
  { organizer, before, after }: ListEndingRequest,
  { db }: { readonly db: Db },
): Promise<ListEndingResponse> {
  const page = await nextEndings(db, { organizer, after, limit: pageSize });
  return {
    events: page
      .filter(({ lastAt }) => lastAt !== null && lastAt < before)
      .map((each) => ({ event: each.event, ending: toMessage(each), problem: refuseShredding(each) })),
    next: page.length < pageSize ? "" : (page.at(-1)?.event ?? ""),
  };
}

function toMessage({ lastAt, timeZone }: Ending): SentEnding | undefined {
  return lastAt === null ? undefined : { at: lastAt, timeZone };
}
