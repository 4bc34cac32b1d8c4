import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";

/** Fields that records were taken without, or that were doubtful. */
export interface FieldWarnings {
  readonly kind: string;
  /** Its path without the places of elements: `positions.tax_rate`. */
  readonly field: string;
  readonly count: number;
}

/** Adds to what is known of fields. In one order, so that imports which run beside each other do not lock each other out. */
export async function addWarnings(db: Queryable, warnings: readonly FieldWarnings[]): Promise<void> {
  const [kinds, fields, counts] = [
    warnings.map(({ kind }) => kind),
    warnings.map(({ field }) => field),
    warnings.map(({ count }) => count),
  ];
  await db.run(sql`
    insert into record_warning as known (kind, field, count, last_at)
    select met.kind, met.field, met.count, now()
      from unnest(${kinds}::text[], ${fields}::text[], ${counts}::bigint[]) as met (kind, field, count)
     order by met.kind, met.field
        on conflict (kind, field) do update
       set count = known.count + excluded.count,
           last_at = excluded.last_at`);
}

/** Finds the fields that were met in the last days, the most frequent first. */
export async function findWarnings(
  db: Queryable,
  { days, most }: { readonly days: number; readonly most: number },
): Promise<readonly FieldWarnings[]> {
  return db.many<FieldWarnings>(sql`
    select record_warning.kind, record_warning.field, record_warning.count
      from record_warning
     where record_warning.last_at > now() - make_interval(days => ${days}::integer)
     order by record_warning.count desc, record_warning.kind, record_warning.field
     limit ${most}`);
}
