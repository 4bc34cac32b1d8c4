import { loadServices } from "@tessera/cli/services";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { type Client, implement } from "@tessera/kit/rpc";
import type { Scan } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { CheckinLists, Doubles, Media, Records, Scans, Tickets } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase } from "@tessera/testkit/database";
import { plainList } from "@tessera/testkit/plain-fields";
import { startForTest } from "@tessera/testkit/start-for-test";
import { place, sendRecords } from "./send-records.ts";

type Owner = "boxoffice" | "checkin";

interface Between {
  /** What a service sees of its database. */
  readonly dbOf?: (owner: Owner, db: Db) => Db;
  /** What checkin sees of boxoffice. */
  readonly mediaOf?: (media: Client<typeof Media>) => Client<typeof Media>;
}

const copied = [topics.eventChanged, topics.itemChanged, topics.positionChanged, topics.reusableMediumChanged];

/** Starts both services on a database of their own. Checkin calls boxoffice; no fact passes by itself. */
export async function startCheckinAndBoxoffice({
  dbOf = (_owner, db) => db,
  mediaOf = (media) => media,
}: Between = {}) {
  const [boxofficeDefinition, checkinDefinition] = await loadServices(["boxoffice", "checkin"]);
  if (boxofficeDefinition === undefined || checkinDefinition === undefined) throw new Error("a service is missing");
  const database = await createTestDatabase(
    [boxofficeDefinition, checkinDefinition].map(({ schema, migrations }) => ({ schema, migrations })),
  );
  const dbs = { boxoffice: database.open("boxoffice"), checkin: database.open("checkin") };
  const boxoffice = await startForTest(boxofficeDefinition, { db: dbOf("boxoffice", dbs.boxoffice) });
  const peers = {
    boxoffice: [implement(Tickets, boxoffice.connect(Tickets)), implement(Media, mediaOf(boxoffice.connect(Media)))],
  };
  const checkin = await startForTest(checkinDefinition, { db: dbOf("checkin", dbs.checkin), peers });
  return {
    dbs,
    scans: checkin.connect(Scans),
    lists: checkin.connect(CheckinLists),
    doubles: checkin.connect(Doubles),
    records: boxoffice.connect(Records),
    drop: () => database.drop(),

    /** Delivers what boxoffice has to tell checkin. */
    async passFacts(): Promise<void> {
      for (const topic of copied) {
        const rows = await dbs.boxoffice.many<{ payload: Buffer }>(
          sql`select payload from outbox where topic = ${topic.name} order by id`,
        );
        const facts = rows.map(({ payload }) => topic.decode(payload));
        await checkin.deliver<unknown>(topic, facts);
      }
    },
  };
}

export type CheckinAndBoxoffice = Awaited<ReturnType<typeof startCheckinAndBoxoffice>>;

const events = ["first", "second"];

/**
 * Creates two events with a list each. The second has so many tickets, from 1, which are exchanged for an NFC tag.
 */
export async function prepareExchanges(
  { records, lists, passFacts }: CheckinAndBoxoffice,
  { tickets, policy, isEnforced }: { readonly tickets: number; readonly policy: string; readonly isEnforced: boolean },
): Promise<number[]> {
  const ids = Array.from({ length: tickets }, (_, index) => index + 1);
  await sendRecords(
    records,
    { kind: "organizer", data: { slug: place.organizer, name: "Big Events" } },
    ...events.flatMap((event) => [
      { kind: "event", event, data: { slug: event, name: { en: event }, date_from: "2027-12-27T10:00:00Z" } },
      { kind: "event_settings", event, data: { reusable_media_usage_enforced: isEnforced } },
      { kind: "item", event, data: { id: 1, name: { en: "Pass" }, media_policy: policy, media_type: "nfc_uid" } },
    ]),
    ...ids.map((id) => ({
      kind: "order",
      event: "second",
      data: {
        ...{ code: `ORDER${id}`, status: "p", datetime: "2027-01-01T10:00:00Z" },
        positions: [{ id, positionid: 1, item: 1, secret: secretOf(id) }],
      },
    })),
  );
  await passFacts();
  return Promise.all(
    events.map(async (event) => {
      const { list } = await lists.createCheckinList({ organizer: place.organizer, event, fields: plainList });
      return list?.id ?? 0;
    }),
  );
}

const secretOf = (ticket: number) => `secret-${ticket}`;

/** A scan of a ticket that brings a medium. */
export function exchangeScan(ticket: number, identifier: string, nonce: string): Scan {
  return {
    ...{ organizer: place.organizer, event: "", list: 0, lookup: secretOf(ticket), untrustedInput: true },
    ...{ type: "SCAN_TYPE_ENTRY", force: false, ignoreUnpaid: false, canceledSupported: true },
    ...{ questionsSupported: true, answers: [], sourceType: "barcode", useOrderLocale: false, nonce },
    exchangeMedium: { type: "nfc_uid", identifier },
  };
}
