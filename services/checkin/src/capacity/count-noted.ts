import type { Db } from "@tessera/kit/pg/database";
import { waitForEarlierTransactions } from "@tessera/kit/pg/earlier-transactions";
import { addThoseInside, findNoted } from "../store/persons-inside.ts";

/**
 * Counts the persons inside of the lists whose limits were set since the last run; until then these limits do not apply. Returns
 * whether all are counted: if a transaction takes longer than `longestMs`, the next run waits for it.
 *
 * No scan waits for it. A transaction that looked for limits before one was set adds nothing to its count, so all that were under way
 * have to end first.
 */
export async function countNoted(db: Db, { longestMs }: { readonly longestMs: number }): Promise<boolean> {
  const noted = await findNoted(db);
  if (noted.length === 0) return true;
  const late = AbortSignal.timeout(longestMs);
  try {
    await waitForEarlierTransactions((question) => db.transaction(question), late);
  } catch (error) {
    if (error === late.reason) return false;
    throw error;
  }
  for (const list of noted) await addThoseInside(db, list);
  return true;
}
