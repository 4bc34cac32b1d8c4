import { Fault } from "@tessera/kit/fault";
import { sql } from "@tessera/kit/pg/sql";
import { MediumLink } from "@tessera/protos/gen/ticketing/boxoffice/v1/media";
import { Scans } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { beforeEach, expect, it } from "vitest";
import { checkinDatabase } from "../../testing/database.ts";
import { eventFact, itemFact, mediumFact, place, positionFact } from "../../testing/facts.ts";
import { inWord, scan, startCheckin } from "../../testing/start-checkin.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
const exchangeMedium = { type: "nfc_uid", identifier: "04AB" };
let list: number;

beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact({ reusableMediaUsageEnforced: true })]);
  await checkin.deliver(topics.itemChanged, [
    itemFact(10, { mediaPolicy: "new", mediaType: "nfc_uid" }),
    itemFact(11, { mediaPolicy: "of later times", mediaType: "nfc_uid" }),
  ]);
  await checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2, { item: 11 }), positionFact(3)]);
  list = (await checkin.createList()).id;
});

const redeem = (lookup: string, changes: Parameters<typeof scan>[2] = {}) =>
  checkin.redeem(scan(list, lookup, changes));
const stored = () =>
  db.many<{ position: number; reason: string | null }>(
    sql`select scan.position, scan.reason from scan order by scan.id`,
  );

it("[E8.1] a ticket without a medium is not stored, and boxoffice is not asked", async () => {
  expect(await redeem("secret1")).toMatchObject({
    outcome: {
      $case: "exchange",
      value: { mediaPolicy: "new", mediaType: "nfc_uid", explanation: expect.stringContaining("medium") },
    },
    position: { position: { id: 1 } },
    list: { id: list },
  });
  expect([await stored(), checkin.toLink]).toEqual([[], []]);
  expect(inWord(await redeem("secret2"))).toBe("admitted");
});

it("[E8.5] a medium is linked before the admission is stored, and the same scan is admitted once", async () => {
  checkin.linked = async () => {
    expect(await stored()).toEqual([]);
    return MediumLink.LINKED;
  };
  const send = () => redeem("secret1", { exchangeMedium, nonce: "once" });
  expect([inWord(await send()), inWord(await send())]).toEqual(["admitted", "admitted"]);
  expect(checkin.toLink).toEqual([{ ...place, position: 1, ...exchangeMedium, policy: "new" }]);
  expect(await stored()).toEqual([{ position: 1, reason: null }]);
});

it("[E8.5] without boxoffice the scan is undecided, nothing is stored, and others are decided", async () => {
  checkin.linked = () => Promise.reject(new Fault("unavailable", "down", "no boxoffice"));
  const outcomes = await checkin.redeemAll([
    scan(list, "secret1", { exchangeMedium, nonce: "a" }),
    scan(list, "secret2", { nonce: "b" }),
  ]);
  expect(outcomes.map(inWord)).toEqual(["undecided", "admitted"]);
  expect(await stored()).toEqual([{ position: 2, reason: null }]);
  checkin.linked = async () => MediumLink.LINKED;
  expect(inWord(await redeem("secret1", { exchangeMedium, nonce: "a" }))).toBe("admitted");
});

it.each([
  [MediumLink.INVALID, "medium_invalid"],
  [MediumLink.EXISTS, "medium_exists"],
  [MediumLink.OTHER, "already_exchanged"],
])("[E8.3, E8.4] what boxoffice answers, %s, refuses the scan: %s", async (result, reason) => {
  checkin.linked = async () => result;
  expect(inWord(await redeem("secret1", { exchangeMedium }))).toBe(reason);
  expect(await stored()).toEqual([{ position: 1, reason }]);
});

it("[E8.4] a medium of another type is refused, and not asked for", async () => {
  expect(inWord(await redeem("secret1", { exchangeMedium: { ...exchangeMedium, type: "barcode" } }))).toBe(
    "medium_invalid",
  );
  expect(checkin.toLink).toEqual([]);
});

it("[E8.3] a ticket with a medium is refused, its medium is admitted", async () => {
  const medium = { ...mediumFact(1), ...exchangeMedium };
  const deliver = (changes: object) => checkin.deliver(topics.reusableMediumChanged, [{ ...medium, ...changes }]);
  await deliver({ linkedPositions: [{ event: "elsewhere", id: 1 }], organizer: place.organizer });
  expect(inWord(await redeem("secret1"))).toBe("exchange");
  await deliver({ revision: 2, active: false });
  expect(inWord(await redeem("secret1"))).toBe("exchange");
  await deliver({ revision: 3, type: "barcode" });
  expect(inWord(await redeem("secret1"))).toBe("exchange");
  await deliver({ revision: 4 });
  expect(inWord(await redeem("secret1"))).toBe("already_exchanged");
  expect(inWord(await redeem("04AB", { sourceType: "nfc_uid" }))).toBe("admitted");
  await checkin.deliver(topics.eventChanged, [eventFact({ revision: 2 })]);
  expect(inWord(await redeem("secret1"))).toBe("already_redeemed");
});

it("[E8.3] a medium of another organizer is not the ticket's", async () => {
  await checkin.deliver(topics.reusableMediumChanged, [{ ...mediumFact(1), ...exchangeMedium, organizer: "others" }]);
  expect(inWord(await redeem("secret1"))).toBe("exchange");
});

it("[E8.5] many scans of one ticket with one medium at once admit once", async () => {
  const sent = Array.from({ length: 8 }, (_, index) => scan(list, "secret1", { exchangeMedium, nonce: `n${index}` }));
  const words = (await checkin.redeemAll(sent)).map(inWord);
  expect(words.filter((word) => word === "admitted")).toHaveLength(1);
  expect(words.filter((word) => word === "already_redeemed")).toHaveLength(7);
});

async function simulate(exchange?: typeof exchangeMedium, lookup = "secret1") {
  const said = exchange === undefined ? {} : { exchangeMedium: exchange };
  const sent = { scan: scan(list, lookup, said), lists: [] };
  const { outcome, explanation } = await checkin.connect(Scans).simulateScan(sent);
  const { steps } = JSON.parse(Buffer.from(explanation).toString()) as {
    steps: { step: string; passed: boolean; reason: string | null }[];
  };
  expect([await stored(), checkin.toLink]).toEqual([[], []]);
  return { word: outcome && inWord(outcome), failed: steps.find(({ passed }) => passed === false) };
}

it("[E8.8] a simulated scan without a medium explains what its ticket is exchanged for", async () => {
  const { word, failed } = await simulate();
  expect(word).toBe("exchange");
  expect(failed).toMatchObject({
    ...{ step: "exchange", reason: "exchange", value: { policy: "new", type: "nfc_uid" } },
    text: expect.stringContaining("wristband"),
  });
});

it("[E8.8] a simulated scan with a medium is decided as boxoffice would, and links nothing", async () => {
  const nfc = (identifier: string) => ({ type: "nfc_uid", identifier });
  const medium = (id: number, identifier: string, changes: object = {}) => ({
    ...mediumFact(id),
    ...{ identifier, linkedPositions: [], ...changes },
  });
  const ofTicket = (id: number) => ({ linkedPositions: [{ event: place.event, id }] });
  await checkin.deliver(topics.itemChanged, [itemFact(12, { mediaPolicy: "reuse", mediaType: "nfc_uid" })]);
  await checkin.deliver(topics.positionChanged, [
    ...[positionFact(4, { item: 12 }), positionFact(5, { item: 12 }), positionFact(6, { canceled: true })],
    positionFact(7, { secret: "with blank" }),
  ]);
  await checkin.deliver(topics.reusableMediumChanged, [
    medium(1, "FREE"),
    medium(2, "OFF", { active: false }),
    medium(3, "OLD", { expires: 1 }),
    medium(4, "TAKEN", ofTicket(5)),
    medium(5, "CANCELED", ofTicket(6)),
    medium(6, "ELSEWHERE", { linkedPositions: [{ event: "elsewhere", id: 5 }] }),
  ]);
  const told = async (...sent: Parameters<typeof simulate>) => {
    const { word, failed } = await simulate(...sent);
    expect(failed?.reason ?? "admitted").toBe(word);
    return word;
  };
  expect([await told(nfc("NEW")), await told(nfc("FREE"))]).toEqual(["admitted", "medium_exists"]);
  expect(await told({ type: "barcode", identifier: "NEW" })).toBe("medium_invalid");
  for (const code of ["secret1", "secret3", "with+blank"]) expect(await told(nfc(code))).toBe("medium_invalid");
  const words = [];
  for (const code of ["FREE", "OFF", "OLD", "NEW", "TAKEN", "CANCELED", "ELSEWHERE"])
    words.push(await told(nfc(code), "secret4"));
  expect(words).toEqual([
    ...["admitted", "medium_invalid", "medium_invalid", "medium_invalid", "medium_exists", "admitted", "admitted"],
  ]);
  await checkin.deliver(topics.reusableMediumChanged, [{ ...medium(7, "OWN"), ...ofTicket(1) }]);
  expect([await told(nfc("OWN")), await told(nfc("NEW")), await told()]).toEqual([
    ...["admitted", "already_exchanged", "already_exchanged"],
  ]);
});
