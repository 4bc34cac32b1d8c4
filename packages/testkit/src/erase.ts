import { randomUUID } from "node:crypto";
import type { EventKey } from "@tessera/events/entity-key";
import type { Worker } from "@tessera/kit/jobs/work-on";
import type { Db } from "@tessera/kit/pg/database";
import type { Client } from "@tessera/kit/rpc";
import type { ErasureState } from "@tessera/protos/gen/platform/v1/personal_data";
import { PersonalData } from "@tessera/protos/services";
import type { Topic } from "@tessera/protos/topic";
import { topics } from "@tessera/protos/topics";
import { finishWork } from "./finish-work.ts";

/** A service that a test has started. */
interface Holding {
  readonly db: Db;
  readonly workers: readonly Worker[];
  deliver<F>(topic: Topic<F>, facts: readonly F[]): Promise<void>;
  connect(service: typeof PersonalData): Client<typeof PersonalData>;
}

/** What an erasure left behind: counts by `kind holding`. */
export interface Erased {
  readonly case: string;
  readonly state: ErasureState;
  readonly parts: Readonly<Record<string, number>>;
  readonly left: Readonly<Record<string, number>>;
}

type Parts = readonly { readonly kind: string; readonly holding: string; readonly count: number }[];

const byName = (parts: Parts) =>
  Object.fromEntries(parts.map(({ kind, holding, count }) => [`${kind} ${holding}`, count]));

/** Tells how far an erasure is. */
export async function findErased(
  service: Pick<Holding, "connect">,
  { case: id, ...place }: EventKey & { readonly case: string },
): Promise<Erased> {
  const { state, parts, left } = await service
    .connect(PersonalData)
    .findErasure({ ...place, case: id, withLeft: true });
  return { case: id, state, parts: byName(parts), left: byName(left) };
}

/** Asks a service to erase kinds of personal data of an event, and waits until it has done so. */
export async function erase(
  service: Holding,
  { organizer, event }: EventKey,
  { kinds, case: id = randomUUID() }: { readonly kinds: readonly string[]; readonly case?: string },
): Promise<Erased> {
  const request = { organizer, event, case: id };
  await service.deliver(topics.shredRequested, [{ ...request, kinds: [...kinds], again: true, fromLedger: true }]);
  await finishWork(service.db, service.workers);
  return findErased(service, request);
}

/** Reads all pages of a file of an export: values by their keys, or a list where the entries have none. */
export async function readExport(
  service: Pick<Holding, "connect">,
  { organizer, event }: EventKey,
  file: string,
): Promise<unknown> {
  const client = service.connect(PersonalData);
  const found: { readonly key: string; readonly json: Uint8Array; readonly fileKey: string }[] = [];
  for (let after: string | undefined = ""; after !== undefined; ) {
    const { entries, next }: Awaited<ReturnType<typeof client.readPersonalData>> = await client.readPersonalData({
      organizer,
      event,
      file,
      after,
    });
    found.push(...entries);
    after = next === "" ? undefined : next;
  }
  const values = found.map(({ key, json, fileKey }): [string, unknown] => [
    key,
    fileKey || (JSON.parse(Buffer.from(json).toString()) as unknown),
  ]);
  return values.some(([key]) => key !== "") ? Object.fromEntries(values) : values.map(([, value]) => value);
}
