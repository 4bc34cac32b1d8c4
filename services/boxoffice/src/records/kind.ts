import type { Tx } from "@tessera/kit/pg/database";
import type { RecordKind as RecordKindOf, Refusals, Removal, Run as RunOf } from "@tessera/records/kind";
import { refuseEach } from "@tessera/records/validate";
import type { Known } from "../domain/known.ts";
import type { IdSequence } from "../store/id-sequences.ts";
import type { Mentioned } from "../store/references.ts";
import { findUsers, type Referable } from "../store/usage.ts";

/** A kind of record that boxoffice owns. */
export interface RecordKind<V> extends RecordKindOf<V, Mentioned, Known> {
  idsOf?(value: V): Iterable<readonly [IdSequence, number]>;
}

export type Run<V> = RunOf<V, Known>;

/** Refuses removals of what others still refer to. */
export async function refuseUsed(tx: Tx, what: Referable, removal: Removal): Promise<Refusals<string>> {
  const users = await findUsers(tx, what, removal);
  return refuseEach(removal.keys, (key, addError) => {
    const by = users.get(key);
    if (by !== undefined) addError("non_field_errors", `${by} refer to it; remove or change those first`);
  });
}
