import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { Scope } from "../domain/scope.ts";

const tellingKinds = ["subevent", "category", "item", "quota", "question"] as const;

/** A kind whose lists tell when they changed last. */
type TellingKind = (typeof tellingKinds)[number];

export function tellsChanges(kind: string): kind is TellingKind {
  return tellingKinds.some((telling) => telling === kind);
}

/** Notes that documents of an event were created, changed or deleted, under the lock of the event. */
export async function noteDocumentsChanged(tx: Tx, kind: TellingKind, { organizer, event }: Scope): Promise<void> {
  await tx.run(sql`
    insert into document_change (organizer, event, kind, changed_at, changed_in)
    values (${organizer}, ${event}, ${kind}, date_trunc('second', clock_timestamp()) + interval '1 second', pg_current_xact_id())
        on conflict (organizer, event, kind) do update
       set changed_at = greatest(excluded.changed_at, document_change.changed_at + interval '1 second'),
           changed_in = excluded.changed_in
     where document_change.changed_in <> excluded.changed_in`);
}

/**
 * Returns when documents of an event changed last, in whole seconds as an instant. Undefined: never, or the second of the
 * change is not over, so it identifies no state yet. A client that read an earlier state, even while this change was being
 * stored, got an earlier time. The time is read before the documents, so these are never older.
 */
export async function findDocumentsChanged(
  db: Queryable,
  kind: TellingKind,
  { organizer, event }: Scope,
): Promise<number | undefined> {
  const row = await db.maybeOne<{ changed_at: number }>(sql`
    select document_change.changed_at
      from document_change
     where document_change.organizer = ${organizer}
       and document_change.event = ${event}
       and document_change.kind = ${kind}
       and document_change.changed_at <= clock_timestamp()`);
  return row?.changed_at;
}
