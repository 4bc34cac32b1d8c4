import type { Queryable } from "@tessera/kit/pg/database";
import { findRefusedSendings } from "../../store/refused-sendings.ts";
import type { DecidedScan } from "./outcome.ts";

/** No scanner gives up sooner, so of a younger scan no other sending was decided. */
const youngMs = 1000;

/**
 * Finds the admissions, by their indexes, that may not be stored: the same scan, by its nonce, was refused meanwhile. Its scanner
 * gave up, sent it again, and was told so; since then the ticket may have left.
 *
 * A scan that is sent again long after it was refused is young, and decided as any other. Where that takes a second, it is to be
 * sent once more.
 */
export async function findSuperseded(db: Queryable, decided: ReadonlyMap<number, DecidedScan>): Promise<number[]> {
  const since = performance.now() - youngMs;
  const late = [...decided].flatMap(([index, { scan, verdict }]) => {
    if (scan.sentAt > since || scan.nonce === null || verdict.outcome !== "admitted") return [];
    const { organizer, event, list, nonce } = scan;
    return [{ index, sending: { organizer, event, list, nonce, position: verdict.match.ticket.id } }];
  });
  if (late.length === 0) return [];
  const refused = await findRefusedSendings(
    db,
    late.map(({ sending }) => sending),
  );
  return late.filter((_, order) => refused.has(order)).map(({ index }) => index);
}
