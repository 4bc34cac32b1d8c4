import type { Fault } from "@tessera/kit/fault";
import type { Queryable } from "@tessera/kit/pg/database";
import type { Ids } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { reportUnknownIds } from "../domain/report-unknown-ids.ts";
import { fault } from "../faults.ts";
import type { EventKey } from "../store/keys.ts";
import { findKnownIds, type IdKind } from "../store/known-ids.ts";

type Named = readonly [IdKind, readonly Ids[]];

const nouns: { readonly [kind in IdKind]?: string } = { subevent: "date", list: "check-in list" };

export async function findUnknown(
  db: Queryable,
  { organizer, event }: EventKey,
  named: readonly Named[],
): Promise<Fault | undefined> {
  const fields: Record<string, string[]> = {};
  for (const [kind, sent] of named) {
    const asked = [...new Set(sent.flatMap(({ ids }) => ids))];
    const known = await findKnownIds(db, kind, { organizer, event, ids: asked });
    for (const { ids, parameter } of sent) {
      const unknown = [...new Set(ids)].filter((id) => !known.has(id));
      if (unknown.length > 0) fields[parameter] = reportUnknownIds(unknown, nouns[kind] ?? kind);
    }
  }
  if (Object.keys(fields).length === 0) return undefined;
  return fault("invalid_filter", "The event has no such objects.", { fields });
}

/** Throws if the event does not have what a filter names. */
export async function requireKnown(
  db: Queryable,
  place: EventKey,
  { list, subevent, position }: { readonly [kind in "list" | "subevent" | "position"]?: number | undefined },
): Promise<void> {
  const named = [nameOne("list", list), nameOne("subevent", subevent), nameOne("position", position)];
  const unknown = await findUnknown(db, place, named);
  if (unknown !== undefined) throw unknown;
}

/** What a parameter with the name of its kind names. */
export function nameOne(kind: IdKind, id: number | undefined): Named {
  return [kind, id === undefined ? [] : [{ ids: [id], parameter: kind }]];
}
