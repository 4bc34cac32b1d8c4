import { createReaders, decideFromCopy, EventCopy, type FeedLine } from "@tessera/admission";
import { OrderStatus, type Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { Scan, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { Scans } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { type Dice, rollFrom } from "@tessera/testkit/dice";
import { questionDocument } from "@tessera/testkit/question-document";
import { formatInstant, Pack } from "@tessera/values";
import { beforeAll, expect, it } from "vitest";
import { checkinDatabase } from "../../testing/database.ts";
import {
  blockedSecretFact,
  eventFact,
  itemFact,
  mediumFact,
  minute,
  noon,
  order,
  place,
  positionFact,
  questionFact,
  revokedSecretFact,
  subeventFact,
} from "../../testing/facts.ts";
import { FeedReader } from "../../testing/feed-reader.ts";
import { scan, startCheckin } from "../../testing/start-checkin.ts";
import { hasherOf } from "../../wire/hash-code.ts";
import { toArrivedScan } from "../../wire/scan-messages.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
const scans = checkin.connect(Scans);
const readers = createReaders();

const hour = 60 * minute;
const device = 4;
const tickets = 60;
const lists: number[] = [];
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

const itemOf = (id: number, changes: object = {}) =>
  itemFact(id, {
    ...changes,
    document: Buffer.from(
      JSON.stringify({
        ...{ name: { en: `Item ${id}` }, checkin_attention: false, checkin_text: null, variations: [] },
        media_policy: "mediaPolicy" in changes ? changes.mediaPolicy : null,
        media_type: "mediaType" in changes ? changes.mediaType : null,
      }),
    ),
  });

function dateOf(id: number) {
  const dateFrom = noon - id * hour;
  const [dateTo, dateAdmission] = [dateFrom + 3 * hour, dateFrom - hour];
  const [from, to, admission] = [dateFrom, dateTo, dateAdmission].map(formatInstant);
  const shown = { date_from: from, date_to: to, date_admission: admission };
  return subeventFact(id, { dateFrom, dateTo, dateAdmission, document: Buffer.from(JSON.stringify(shown)) });
}

/** Any ticket of few codes, dates and products. */
function anyTicket(id: number, { below, pick }: Dice): Partial<Position> {
  const moment = () => (below(4) === 0 ? { at: noon + (below(9) - 4) * hour } : { at: undefined });
  const [from, until, subevent] = [moment().at, moment().at, pick([undefined, undefined, 1, 2])];
  const addonTo = id % 4 === 0 ? id - 1 : undefined;
  return {
    secret: below(12) === 0 ? `twin${below(4)}` : `t${id}${below(9) === 0 ? " x" : ""}`,
    item: pick([10, 11, 12, 13, 13]),
    ...(below(2) === 0 ? { variation: 5 } : {}),
    canceled: below(12) === 0,
    blocked: below(12) === 0 ? ["x"] : [],
    ...(subevent === undefined ? {} : { subevent }),
    ...(addonTo === undefined ? {} : { addonTo }),
    ...(from === undefined ? {} : { validFrom: from }),
    ...(until === undefined ? {} : { validUntil: until }),
    order: order({
      locale: pick(["en", "de"]),
      status: pick([OrderStatus.PAID, OrderStatus.PAID, OrderStatus.PAID, OrderStatus.PENDING, OrderStatus.EXPIRED]),
      validIfPending: below(4) === 0,
      requireApproval: below(4) === 0,
    }),
    answers:
      below(3) === 0
        ? [{ question: 8, answer: "x", questionIdentifier: "Q8", options: [], optionIdentifiers: [] }]
        : [],
  };
}

const codesOf = (sold: ReadonlyMap<number, Partial<Position>>) => [
  ...Array.from(sold.values(), ({ secret = "" }) => secret),
  ...["BAND1", "BAND2", "BAND3", "A1", "A2", "A3", "gone1", "gone2", "gone3", "nothing", "twin0", "twin1"],
];

function anyScan(codes: readonly string[], nr: number, { below, pick }: Dice): Scan {
  const code = pick(codes);
  // A device makes no two scans in one millisecond: such a scan counts as this one.
  const at = noon + pick([1, 1, 5]) * (below(400) - 200) * minute + nr * 1000;
  return scan(pick(lists), below(6) === 0 ? code.replaceAll(" ", "+") : code, {
    ...{ at, type: below(4) === 0 ? ScanType.EXIT : ScanType.ENTRY },
    ...{
      nonce: `nonce ${nr}`,
      sourceType: pick(["barcode", "barcode", "nfc_uid"]),
      deviceId: device,
      gate: pick([1, 2]),
      useOrderLocale: below(2) === 0,
    },
    ...{ force: below(6) === 0, ignoreUnpaid: below(3) === 0, questionsSupported: below(6) > 0 },
    answers: [7, 10].flatMap((question) =>
      below(2) === 0 ? [{ question, value: pick(["true", '"false"', "[]"]) }] : [],
    ),
    ...(below(4) === 0
      ? { exchangeMedium: { type: pick(["nfc_uid", "barcode"]), identifier: pick(["A1", "A2"]) } }
      : {}),
  });
}

beforeAll(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact({ hasSubevents: true, dateTo: noon + 4 * hour })]);
  await checkin.deliver(topics.subeventChanged, [1, 2].map(dateOf));
  await checkin.deliver(topics.itemChanged, [
    ...[itemOf(10), itemOf(11), itemOf(12)],
    itemOf(13, { mediaPolicy: "reuse_or_new", mediaType: "nfc_uid" }),
  ]);
  await checkin.deliver(
    topics.questionChanged,
    [7, 8, 9, 10].map((id) => {
      const items = id < 9 ? [11, 12] : [12];
      const dependsOn = id === 9 ? { dependency_question: 10, dependency_values: ["True"] } : {};
      const document = Buffer.from(questionDocument(id, { items, position: 20 - id, ...dependsOn }));
      return questionFact(id, { items, position: 20 - id, document });
    }),
  );
  const terms = [
    {},
    { allowMultipleEntries: true, addonMatch: true },
    { allProducts: false, limitProducts: [10, 12], includePending: true },
    { subevent: 1, allowEntryAfterExit: false },
    {
      addonMatch: true,
      rules: '{"or":[{"<":[{"var":"entries_today"},1]},{"inList":[{"var":"product"},{"objectList":[]}]}]}',
    },
    { rules: '{"isAfter":[{"var":"now"},{"buildTime":["date_from"]},30]}', includePending: true },
    {
      rules:
        '{"or":[{"inList":[{"var":"gate"},{"objectList":[{"lookup":["gate","1","North"]}]}]},{">":[{"var":"minutes_since_last_entry"},30]}]}',
    },
    { rules: '{"<":[{"var":"entries_number"},"x"]}' },
    {
      rules:
        '{"and":[{"isAfter":[{"var":"now"},{"buildTime":["date_admission"]},0]},{"isBefore":[{"var":"now"},{"buildTime":["date_to"]},10]}]}',
    },
    {
      allowMultipleEntries: true,
      rules:
        '{"or":[{"inList":[{"var":"variation"},{"objectList":[{"lookup":["variation","5","Red"]}]}]},{"<":[{"var":"entries_days"},2]},{">":[{"var":"entries_number"},110]}]}',
    },
  ];
  for (const fields of terms) lists.push((await checkin.createList(fields)).id);
});

/** Boxoffice has to link a medium that the visitor has brought. */
const needsServer = ["the server has to decide"];

const pickLocale = (round: number) => ["en", "de-informal", "pt-br"][round % 3] ?? "en";

/** What both say of a decision. */
function saidByServer({ outcome }: ScanOutcome): unknown[] {
  switch (outcome?.$case) {
    case "refused":
      return outcome.value.reason === "revoked"
        ? ["revoked"]
        : ["refused", outcome.value.reason, outcome.value.explanation];
    case "incomplete":
      return [
        "incomplete",
        ...outcome.value.questions.map(
          (document) => (JSON.parse(Buffer.from(document).toString()) as { id: number }).id,
        ),
      ];
    case "exchange":
      return ["exchange", outcome.value.explanation];
    case "unknownTicket":
      return ["unknown_ticket"];
    default:
      return [outcome?.$case];
  }
}

function saidByCopy(copy: EventCopy, sent: Scan): unknown[] {
  const arrived = toArrivedScan(sent, { now: noon, traceparent: undefined, mayBeNew: false });
  const verdict = decideFromCopy(copy, arrived, { readers, own: [] });
  switch (verdict?.outcome) {
    case "refused":
      return verdict.reason === "revoked" ? ["revoked"] : ["refused", verdict.reason, verdict.explanation ?? undefined];
    case "incomplete":
      return ["incomplete", ...verdict.missing.map(({ id }) => id)];
    case "exchange":
      return verdict.medium === null ? ["exchange", verdict.explanation] : needsServer;
    case "repeated":
      return ["admitted"];
    case "unknown_ticket":
      return verdict.isRevoked ? ["revoked"] : ["unknown_ticket"];
    default:
      return [verdict?.outcome];
  }
}

async function readCopy(): Promise<{ copy: EventCopy; cursor: string }> {
  // A process keeps packs for a while.
  const { sync } = await startCheckin(db);
  const { pack } = await sync.readPack({ ...place, from: "", withNames: false }, { timeoutMs: 20_000 });
  const read = new Pack(pack);
  const key = Buffer.from(String(read.info["key"]), "base64");
  return { copy: new EventCopy([read], hasherOf(key)), cursor: String(read.info["cursor"]) };
}

async function simulate(sent: Scan): Promise<unknown[]> {
  const { outcome } = await scans.simulateScan({ scan: sent, lists: [] }, { timeoutMs: 20_000 });
  if (outcome === undefined) throw new Error("no outcome came back");
  return saidByServer(outcome);
}

/** Facts about half of what may change. */
async function change(dice: Dice, revision: number): Promise<ReadonlyMap<number, Partial<Position>>> {
  const { below, pick } = dice;
  const sold = new Map(numbers(tickets).map((id) => [id, anyTicket(id, dice)]));
  await checkin.deliver(
    topics.positionChanged,
    Array.from(sold, ([id, fields]) => positionFact(id, fields, { revision })),
  );
  await checkin.deliver(
    topics.reusableMediumChanged,
    numbers(6).map((id) => {
      // Of media whose tickets are all of other events a copy knows nothing, nor that they hide a revoked code.
      const linked = numbers(pick([1, 1, 1, 3])).map((nr) => ({
        event: id === 2 && nr === 1 ? "sampleconf" : pick(["sampleconf", "sampleconf", "other"]),
        id: 1 + below(tickets),
      }));
      const [type, identifier] = id <= 3 ? ["barcode", `BAND${id}`] : ["nfc_uid", `A${id - 3}`];
      const expires = below(4) === 0 ? { expires: noon + (below(5) - 2) * hour } : {};
      return {
        ...mediumFact(id, { type, identifier, revision, active: below(5) > 0, linkedPositions: linked }),
        ...expires,
      };
    }),
  );
  await checkin.deliver(
    topics.revokedSecretChanged,
    numbers(5).map((id) =>
      revokedSecretFact(id, {
        secret: ["gone1", "gone2", "gone3", "BAND2", "twin1"][id - 1] ?? "",
        position: 1 + below(tickets),
        revision,
      }),
    ),
  );
  await checkin.deliver(
    topics.blockedSecretChanged,
    numbers(3).map((id) =>
      blockedSecretFact(id, { secret: `t${1 + below(tickets)}`, blocked: below(3) > 0, revision }),
    ),
  );
  return sold;
}

it("[F4.9] a pack, and one that lines of the feed bring up to date, decide every scan as the server does", async () => {
  const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 31));
  const dice = rollFrom(seed);
  const kinds = new Map<string, number>();
  let count = 0;
  const next = (codes: readonly string[]) => {
    count += 1;
    return anyScan(codes, count, dice);
  };
  await change(dice, 1);
  const followed = await readCopy();
  const feed = new FeedReader(checkin.sync, {
    organizer: place.organizer,
    among: { slugs: [place.event] },
    hashed: true,
  });
  feed.cursor = followed.cursor;
  for (let round = 2; round <= 5; round += 1) {
    const sold = await change(dice, round);
    const codes = codesOf(sold);
    await checkin.deliver(topics.eventChanged, [
      eventFact({
        ...{ hasSubevents: true, dateTo: noon + 4 * hour, revision: round },
        ...{ locale: pickLocale(round), reusableMediaUsageEnforced: round >= 3 },
      }),
    ]);
    // The feed does not tell what was answered: an answer that others depend on comes with its scan alone.
    const told = ({ answers, ...sent }: Scan): Scan => ({
      ...{ ...sent, force: true, answers: answers.filter(({ question }) => question !== 10) },
    });
    const made = numbers(80).map(() => told(next(codes)));
    await checkin.redeemAll(made);
    // More than the feed tells of one ticket.
    if (round === 2) {
      const often = sold.get(5)?.secret ?? "";
      await checkin.redeemAll(numbers(120).map(() => ({ ...told(next([often])), list: lists.at(-1) ?? 0 })));
    }
    for (const line of await feed.readAll()) followed.copy.apply(line as unknown as FeedLine);
    const packed = round % 2 === 0 ? undefined : (await readCopy()).copy;
    for (const index of numbers(120)) {
      const before = dice.pick(made);
      const again = { list: before.list, lookup: before.lookup };
      const sent = { ...next(codes), ...(dice.below(3) === 0 ? again : {}) };
      const said = await simulate(sent);
      const decided = saidByCopy(followed.copy, sent);
      if (decided === needsServer) continue;
      expect(decided, `seed ${seed}, round ${round}, scan ${index}: ${JSON.stringify(sent)}`).toEqual(said);
      if (packed !== undefined) expect(saidByCopy(packed, sent), `seed ${seed}, pack, scan ${index}`).toEqual(said);
      const kind = said[0] === "refused" ? `refused ${said[1]}` : String(said[0]);
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    }
  }
  const wanted = [
    ...["admitted", "incomplete", "exchange", "unknown_ticket", "revoked", "refused already_redeemed", "refused rules"],
    ...["refused canceled", "refused blocked", "refused unpaid", "refused product", "refused invalid_time"],
    ...["refused unapproved", "refused ambiguous"],
  ];
  expect(
    wanted.filter((kind) => (kinds.get(kind) ?? 0) === 0),
    `seed ${seed}`,
  ).toEqual([]);
});
