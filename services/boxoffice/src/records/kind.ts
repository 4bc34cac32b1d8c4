import type { Tx } from "@tessera/kit/pg/database";
import type { Topic } from "@tessera/protos/topic";
import type { RecordKind as RecordKindOf, Refusals, Removal, Run as RunOf } from "@tessera/records/kind";
import { refuseEach, toSentence } from "@tessera/records/validate";
import type { Known } from "../domain/known.ts";
import type { EntityKey, EntityTable } from "../store/rebuild-reads.ts";
import type { Mentioned } from "../store/references.ts";
import { findUsers, type Referable } from "../store/usage.ts";

export interface RecordKind<V> extends RecordKindOf<V, Mentioned, Known> {
  /** Present if other services keep copies of its entities. */
  readonly copied?: CopiedEntities<unknown>;
}

/** Entities that other services keep copies of, and how a rebuild reads them. */
export interface CopiedEntities<F> {
  readonly topic: Topic<F>;
  readonly table: EntityTable;
  /** The scope of the lock that a change of such an entity holds, as in a batch of records. */
  readonly belongsTo: "organizer" | "event";
  /** Makes facts with new revisions of the entities with these keys; deleted ones are left out. */
  read(tx: Tx, keys: readonly EntityKey[]): Promise<readonly F[]>;
}

export type Run<V> = RunOf<V, Known>;

/** Refuses to remove entities that others refer to. */
export async function refuseUsed(tx: Tx, what: Referable, removal: Removal): Promise<Refusals<string>> {
  const users = await findUsers(tx, what, removal);
  return refuseEach(removal.keys, (key, addError) => {
    const by = users.get(key);
    if (by !== undefined) addError("non_field_errors", toSentence(`${by} refer to it; remove or change those first`));
  });
}
