import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";

/** Fields that were ignored or doubtful in records. */
export interface FieldWarnings {
  readonly kind: string;
  /** The path without indexes: `positions.tax_rate`. */
  readonly field: string;
  readonly count: number;
}

/** Adds counts, in key order, so that concurrent imports do not deadlock. */
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

/** Finds the fields of the last days, the most frequent first. */
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
