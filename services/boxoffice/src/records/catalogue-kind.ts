import type { Tx } from "@tessera/kit/pg/database";
import type { Checked, Schema } from "@tessera/kit/schema";
import type { Topic } from "@tessera/protos/topic";
import { entityKey } from "@tessera/protos/topics";
import type { Scope } from "../domain/scope.ts";
import * as catalogue from "../store/catalogue.ts";
import type { RecordKind } from "./kind.ts";
import { compileKeyReader, type Reading } from "./read.ts";

/** What was stored, with its new revision. */
export type Changed<T> = Reading<T> & { readonly scope: Scope; readonly revision: number };

interface CatalogueKindOptions<T, F> {
  readonly table: catalogue.CatalogueTable;
  readonly belongsTo: "organizer" | "event";
  readonly schema: Schema;
  /** The field of the schema that is the key. */
  readonly key: keyof T & string;
  readonly read: (data: unknown) => Checked<Reading<T>>;
  /** What is published about its entities. */
  readonly fact?: { readonly topic: Topic<F>; of(changed: Changed<T>): F };
  /** What else a change brings about. */
  readonly afterChange?: (tx: Tx, scope: Scope, changed: readonly Changed<T>[]) => Promise<void>;
}

/** Makes the kind of a record that is kept as its document and nothing else. */
export function catalogueKind<T, F = never>(options: CatalogueKindOptions<T, F>): RecordKind<Reading<T>> {
  const { table, belongsTo, schema, key, fact } = options;
  const keyOf = ({ data }: Reading<T>) => String(data[key]);
  return {
    schema,
    belongsTo,
    read: options.read,
    readKey: compileKeyReader(schema, key),
    keyOf,
    async store(tx, { scope, values }) {
      const rows = values.map((value) => ({ key: keyOf(value), document: value.document }));
      const revisions = await catalogue.upsert(tx, table, { scope, rows });
      const changed = values.flatMap((value) => {
        const revision = revisions.get(keyOf(value));
        return revision === undefined ? [] : [{ ...value, scope, revision }];
      });
      if (changed.length === 0) return;
      if (fact !== undefined) {
        const facts = changed.map((entity) => fact.of(entity));
        await tx.publish(fact.topic, facts);
      }
      await options.afterChange?.(tx, scope, changed);
    },
    async remove(tx, { scope, keys }) {
      const removed = await catalogue.remove(tx, table, { scope, keys });
      const factKeys = removed.map((id) => entityKey(scope.organizer, scope.event, id));
      if (fact !== undefined) await tx.retract(fact.topic, factKeys);
    },
  };
}
