import type { Client } from "@tessera/kit/rpc";
import type { Records } from "@tessera/protos/services";
import { expect } from "vitest";

export const place = { organizer: "bigevents", event: "sampleconf" };

export interface SentRecord {
  readonly kind: string;
  /** By default that of `place`. */
  readonly event?: string;
  readonly data: object;
  readonly deleted?: boolean;
}

/** Sends records to their owner, of which none may be rejected. */
export async function sendRecords(owner: Client<typeof Records>, ...sent: readonly SentRecord[]): Promise<void> {
  const lines = sent.map(({ kind, event = place.event, data, deleted = false }, index) => ({
    line: index + 1,
    kind,
    organizer: place.organizer,
    event: kind === "organizer" ? "" : event,
    deleted,
    data: Buffer.from(JSON.stringify(data)),
  }));
  expect((await owner.applyRecords({ records: lines })).rejected).toEqual([]);
}
