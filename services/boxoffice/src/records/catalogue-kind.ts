import type { Rebuild } from "@tessera/kit/bus/rebuild-topics";
import type { Tx } from "@tessera/kit/pg/database";
import { recordKinds } from "@tessera/protos/record-kinds";
import type { Topic } from "@tessera/protos/topic";
import { entityKey } from "@tessera/protos/topics";
import type { Reading } from "@tessera/records/read";
import type { Checked, JsonSchema, Properties } from "@tessera/schema/schema";
import type { Scope } from "../domain/scope.ts";
import { fault } from "../faults.ts";
import * as catalogue from "../store/catalogue.ts";
import { type DocumentTable, readDocuments } from "../store/rebuild-reads.ts";
import type { RecordKind } from "./kind.ts";
import { rebuildEntities } from "./rebuild-entities.ts";

/** What was stored, with its new revision. */
export type Changed<T> = Reading<T> & { readonly scope: Scope; readonly revision: number };

interface CommonOptions<T> {
  readonly schema: JsonSchema & { readonly properties: Properties };
  readonly read: (data: unknown) => Checked<Reading<T>>;
  /** What else a change brings about. */
  readonly afterChange?: (tx: Tx, scope: Scope, changed: readonly Changed<T>[]) => Promise<void>;
}

/** Others keep copies of these. */
interface PublishedOptions<T, F> extends CommonOptions<T> {
  readonly table: DocumentTable;
  /** What is published about its entities. */
  readonly fact: { readonly topic: Topic<F>; of(changed: Changed<T>): F };
}

interface UnpublishedOptions<T> extends CommonOptions<T> {
  readonly table: catalogue.CatalogueTable;
  readonly fact?: undefined;
}

/** Makes the kind of a record that is kept as its document and nothing else, in the table of its name. */
export function catalogueKind<T extends object, F = never>(
  options: PublishedOptions<T, F> | UnpublishedOptions<T>,
): RecordKind<Reading<T>> {
  const { table, schema, fact } = options;
  const key: string = recordKinds[table].key;
  const keyOf = ({ data }: Reading<T>) => String(data[key as keyof T]);
  return {
    name: table,
    schema,
    read: options.read,
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
    ...(options.fact === undefined ? {} : { rebuild: rebuildOf(options) }),
  };
}

/** Facts are made of what reading a document gives, which is as it was when the document was sent. */
function rebuildOf<T, F>({ table, read, fact }: PublishedOptions<T, F>): Rebuild {
  return rebuildEntities({
    topic: fact.topic,
    table,
    belongsTo: recordKinds[table].belongsTo,
    async read(tx, keys) {
      return (await readDocuments(tx, table, keys)).map(({ organizer, event, id, data, revision }) => {
        const checked = read(data);
        if (!checked.ok) {
          const what = `${table} ${id} of ${organizer}/${event}`;
          throw fault("document_unreadable", `${what} is not accepted any more; send its record again`);
        }
        return fact.of({ ...checked.value, scope: { organizer, event }, revision });
      });
    },
  });
}
