import type { Tx } from "@tessera/kit/pg/database";
import { recordKinds } from "@tessera/protos/record-kinds";
import type { Topic } from "@tessera/protos/topic";
import { entityKey } from "@tessera/protos/topics";
import { noteUnread, type Reading, withoutUnread } from "@tessera/records/read";
import type { Checked, JsonSchema, Properties } from "@tessera/schema/schema";
import type { Known } from "../domain/known.ts";
import type { Scope } from "../domain/scope.ts";
import { fault } from "../faults.ts";
import * as catalogue from "../store/catalogue-tables.ts";
import { noteDocumentsChanged, tellsChanges } from "../store/document-changes.ts";
import { readDocuments } from "../store/rebuild-reads.ts";
import { isReferable } from "../store/usage.ts";
import { type CopiedEntities, type RecordKind, refuseUsed } from "./kind.ts";

/** A stored entity with its new revision. */
export type Changed<T> = Reading<T> & { readonly scope: Scope; readonly revision: number };

interface CommonOptions<T> {
  readonly table: catalogue.CatalogueTable;
  readonly schema: JsonSchema & { readonly properties: Properties };
  readonly read: (data: unknown) => Checked<Reading<T>>;
  /** Whether a record changes a unique column. Records may swap its values, so their rows are deleted first. */
  readonly isRenamed?: (data: T, known: Known) => boolean;
  /** A hook for the consequences of a change. */
  readonly afterChange?: (tx: Tx, scope: Scope, changed: readonly Changed<T>[]) => Promise<void>;
}

/** Options of kinds that other services keep copies of. */
interface PublishedOptions<T, F> extends CommonOptions<T> {
  /** The fact of its entities. */
  readonly fact: { readonly topic: Topic<F>; of(changed: Changed<T>): F };
}

interface UnpublishedOptions<T> extends CommonOptions<T> {
  readonly fact?: undefined;
}

/** Makes the kind of a record that is stored as its document alone, in the table of its name. */
export function catalogueKind<T extends object, F = never>(
  options: PublishedOptions<T, F> | UnpublishedOptions<T>,
): RecordKind<Reading<T>> {
  const { table, schema, read, fact, isRenamed } = options;
  const key: string = recordKinds[table].key;
  const keyOf = ({ data }: Reading<T>) => String(data[key as keyof T]);
  return {
    name: table,
    schema,
    read: (data, _leftOut, wrong = []) => noteUnread(read(data), wrong),
    keyOf,
    async store(tx, { scope, values, known }) {
      const renamed = values.filter(({ data }) => isRenamed?.(data, known));
      if (renamed.length > 0) await catalogue.deleteRows(tx, table, { scope, keys: renamed.map(keyOf) });
      const rows = values.map((value) => ({ key: keyOf(value), document: value.document }));
      const revisions = await catalogue.upsert(tx, table, { scope, rows });
      const changed = values.flatMap((value) => {
        const revision = revisions.get(keyOf(value));
        return revision === undefined ? [] : [{ ...value, scope, revision }];
      });
      if (changed.length === 0) return;
      if (tellsChanges(table)) await noteDocumentsChanged(tx, table, scope);
      if (fact !== undefined) {
        const facts = changed.map((entity) => fact.of(toShown(entity)));
        await tx.publish(fact.topic, facts);
      }
      await options.afterChange?.(tx, scope, changed);
    },
    ...(isReferable(table)
      ? { refuseRemoval: (tx, removal) => refuseUsed(tx, table, removal), bring: () => ({}) }
      : {}),
    async remove(tx, { scope, keys }) {
      const deleted = await catalogue.deleteRows(tx, table, { scope, keys });
      if (deleted.length > 0 && tellsChanges(table)) await noteDocumentsChanged(tx, table, scope);
      const factKeys = deleted.map((id) => entityKey(scope.organizer, scope.event, id));
      if (fact !== undefined) await tx.retract(fact.topic, factKeys);
    },
    ...(options.fact === undefined ? {} : { copied: copiedOf(options) }),
  };
}

/** Fields of an entity for other checks: unreadable fields decide what is sold here. */
function toShown<E extends { readonly document: string }>(entity: E): E {
  return { ...entity, document: withoutUnread(entity.document) };
}

/** Facts are made of the stored document, which is read as it was sent. */
function copiedOf<T, F>({ table, read, fact }: PublishedOptions<T, F>): CopiedEntities<F> {
  return {
    topic: fact.topic,
    table,
    belongsTo: recordKinds[table].belongsTo,
    async read(tx, keys) {
      return (await readDocuments(tx, table, keys)).map(({ organizer, event, key, data, revision }) => {
        const checked = read(data);
        if (!checked.ok) {
          const what = `${table} ${key} of ${organizer}/${event}`;
          throw fault("document_unreadable", `${what} is not accepted any more; send its record again`);
        }
        return fact.of(toShown({ ...checked.value, scope: { organizer, event }, revision }));
      });
    },
  };
}
