import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { checkinDatabase } from "../../testing/database.ts";
import { eventFact, itemFact, positionFact, revokedSecretFact } from "../../testing/facts.ts";
import { signTicket, ticketKeys, toPayload } from "../../testing/sign-ticket.ts";
import { scan, startCheckin } from "../../testing/start-checkin.ts";

const { database, db } = await checkinDatabase();
const checkin = await startCheckin(db);
let list: number;

const keys = ticketKeys();
const ofEvent = { ticketKeys: { pretixSig1: [keys.publicKey] } };
const code = signTicket(
  toPayload([
    [1, "seed12345"],
    [2, 10],
    [3, 101],
    [4, 5],
  ]),
  keys.privateKey,
);
const nothing = { item: null, variation: null, subevent: null };

afterAll(() => database.drop());
beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact(ofEvent)]);
  await checkin.deliver(topics.itemChanged, [itemFact(10)]);
  list = (await checkin.createList()).id;
});

const stored = () =>
  checkin.db.many(sql`
    select scan.reason, scan.raw_code, scan.position, scan.raw_item as item, scan.raw_variation as variation, scan.raw_subevent as subevent
      from scan
     order by scan.id`);

describe("an unknown code that the event has signed", () => {
  it("[E5.1, E5.2] is unknown, and its scan is stored with its product and date", async () => {
    for (const changes of [{}, { force: true }, { untrustedInput: true }]) {
      const outcome = await checkin.redeem(scan(list, code, changes));
      expect(outcome).toMatchObject({ outcome: { $case: "unknownTicket" }, position: undefined });
    }
    const one = { reason: "invalid", raw_code: code, position: null, item: 10, variation: 101, subevent: 5 };
    expect(await stored()).toEqual([one, one, one]);
  });

  it("[E5.2] tells nothing under another event's key, without keys, or once its key is gone", async () => {
    const foreign = signTicket(toPayload([[2, 10]]), ticketKeys().privateKey);
    await checkin.redeem(scan(list, foreign));
    await checkin.deliver(topics.eventChanged, [eventFact({ revision: 2, ticketKeys: { pretixSig1: ["broken"] } })]);
    await checkin.redeem(scan(list, code));
    await checkin.deliver(topics.eventChanged, [eventFact({ revision: 3 })]);
    await checkin.redeem(scan(list, code));
    expect(await stored()).toMatchObject([nothing, nothing, nothing]);
    await checkin.deliver(topics.eventChanged, [eventFact({ revision: 4, ...ofEvent })]);
    await checkin.redeem(scan(list, code));
    expect((await stored()).at(-1)).toMatchObject({ item: 10 });
  });

  it("[E5.1] admits where a ticket has it, and is stored as any other then", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1, { secret: code })]);
    expect((await checkin.redeem(scan(list, code))).outcome?.$case).toBe("admitted");
    expect(await stored()).toMatchObject([{ reason: null, position: 1, ...nothing }]);
  });

  it("[E5.2] is told of a revoked one, too, whose ticket is gone", async () => {
    await checkin.deliver(topics.revokedSecretChanged, [revokedSecretFact(1, { secret: code })]);
    await checkin.redeem(scan(list, code));
    expect(await stored()).toMatchObject([{ reason: "revoked", position: null, item: 10, subevent: 5 }]);
  });

  it("[E5.2] is read beside other codes of its batch", async () => {
    const codes = ["plain", code, "x".repeat(120), `${code}=`, code.toLowerCase()];
    await checkin.redeemAll(codes.map((each) => scan(list, each)));
    const found = (await stored()) as { raw_code: string; item: number | null }[];
    expect(found).toHaveLength(codes.length);
    for (const { raw_code, item } of found) expect(item, raw_code).toBe(raw_code === code ? 10 : null);
  });
});
