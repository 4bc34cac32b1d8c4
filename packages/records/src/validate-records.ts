import type { FieldErrors } from "@tessera/kit/fault";
import type { Db, Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type {
  BroughtEntity,
  ValidateRecordsRequest,
  ValidateRecordsResponse,
} from "@tessera/protos/gen/ticketing/records/v1/records";
import { checkRun } from "./apply-run.ts";
import type { KnownScope, RecordKind, RecordOwner } from "./kind.ts";
import { compileBatchReader, splitRecords, toResponse } from "./read-batch.ts";
import type { Readable } from "./read-record.ts";

export type ValidateRecords = (
  request: ValidateRecordsRequest,
  stores: { readonly db: Db },
) => Promise<ValidateRecordsResponse>;

/**
 * Makes the function that validates records of an owner and stores nothing. The answer has the entities that records would create;
 * the caller sends them again with later records that refer to them. Its transactions are read-only, so they lock nothing.
 */
export function validateRecordsOf<Mentioned, Known extends KnownScope>(
  owner: RecordOwner<Mentioned, Known>,
): ValidateRecords {
  type Read = Readable<RecordKind<unknown, Mentioned, Known>>;
  const readBatch = compileBatchReader(owner.kinds);

  return async ({ records, before }, { db }) => {
    const { examined, errors, unknownKeys } = await readBatch(records);
    const { refused, taken, brought } = await db.transaction((tx) => checkBatch(tx, examined, before));
    for (const [record, reasons] of refused) errors.set(record.sent, reasons);
    return { outcome: toResponse(records, { errors, taken, unknownKeys }), brought };
  };

  async function checkBatch(tx: Tx, records: readonly Read[], before: readonly BroughtEntity[]) {
    await tx.run(sql`set transaction read only`);
    const refused: (readonly [Read, FieldErrors])[] = [];
    const taken: Read[] = [];
    const brought: BroughtEntity[] = [];
    for (const run of splitRecords(records)) {
      const verdict = await checkRun(tx, run, owner, (known, scope) =>
        owner.recall(known, scope, [...before, ...brought]),
      );
      for (const [record, reasons] of verdict.refused) refused.push([record, reasons]);
      for (const record of verdict.taken.values()) taken.push(record);
      if (verdict.known !== undefined) brought.push(...bringAll([...verdict.taken.values()], verdict.known));
    }
    return { refused, taken, brought };
  }

  function bringAll(records: readonly Read[], known: Known): BroughtEntity[] {
    return records.flatMap(({ kind, scope, key, value }) => {
      if (kind.bring === undefined) return [];
      const { names = [], data = {} } = kind.bring(value, known);
      return [{ kind: kind.name, ...scope, key, names: names.map(String), data: JSON.stringify(data) }];
    });
  }
}
