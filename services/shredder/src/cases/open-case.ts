import { randomUUID } from "node:crypto";
import type { EventKey } from "@tessera/events/entity-key";
import { enqueueWork } from "@tessera/kit/jobs/work";
import type { Tx } from "@tessera/kit/pg/database";
import { openCase } from "../store/cases.ts";
import { type Export, insertExport } from "../store/exports.ts";
import { exporting, shredding, workId } from "./work.ts";

/** The two ids of the address of something that was opened. */
export interface Opened {
  readonly id: string;
  readonly file: string;
}

/** Opens an export, which is made when the transaction has committed. */
export async function openExport(
  tx: Tx,
  {
    organizer,
    event,
    ...row
  }: EventKey & { readonly credential: string; readonly kinds: readonly string[]; readonly instance: string },
): Promise<Opened> {
  const [id, file] = [randomUUID(), randomUUID()];
  const payload = { organizer, event, id };
  await insertExport(tx, { ...payload, ...row, file });
  await enqueueWork(tx, exporting, [{ id: workId(payload), owner: organizer, payload }]);
  return { id, file };
}

/**
 * Opens the case of an export, unless it is open; its event is erased when the transaction has committed. Undefined: the
 * export is gone.
 */
export async function openShred(
  tx: Tx,
  exported: Export,
  asked: { readonly credential: string; readonly requestedBy: string },
): Promise<(Opened & { readonly isNew: boolean }) | undefined> {
  const { organizer, event } = exported;
  const proposed = { id: randomUUID(), file: randomUUID(), ...asked };
  const found = await openCase(tx, exported, proposed);
  if (found === undefined) return undefined;
  const { id, file } = found;
  const payload = { organizer, event, id };
  await enqueueWork(tx, shredding, [{ id: workId(payload), owner: organizer, payload }]);
  return { id, file, isNew: id === proposed.id };
}
