import { Fault } from "@tessera/kit/fault";
import { sql } from "@tessera/kit/pg/sql";
import { PositionChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { Scan, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { Scans } from "@tessera/protos/services";
import { topics } from "@tessera/protos/topics";
import { type Dice, rollFrom } from "@tessera/testkit/dice";
import { questionDocument } from "@tessera/testkit/question-document";
import { beforeAll, expect, it } from "vitest";
import { checkinDatabase } from "../../testing/database.ts";
import {
  eventFact,
  itemFact,
  mediumFact,
  minute,
  noon,
  positionFact,
  questionFact,
  revokedSecretFact,
} from "../../testing/facts.ts";
import { recount } from "../../testing/recount.ts";
import { listFields, scan, startCheckin } from "../../testing/start-checkin.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
const scans = checkin.connect(Scans);

/** Two organizers with the same events, lists and tickets: one sends scans alone, the other the same scans in batches. */
const organizers = ["alone", "together"] as const;
type Organizer = (typeof organizers)[number];

const cases = 300;
const scansOfCase = 10;
const casesAtOnce = 12;
const ticketsOfCase = 6;

/** A list may be known by its name alone: its id differs between the organizers. */
const lists = new Map<string, number>();
const unknownList = 999_999;

const idOf = (nr: number, ticket: number) => nr * 10 + ticket;
const secretOf = (nr: number, ticket: number) => `c${nr} t${ticket}`;
const eventOf = (ticket: number) => (ticket % 3 === 0 ? "second" : "first");
const factOf = (organizer: string, nr: number, ticket: number) => ({
  ...positionFact(idOf(nr, ticket), { secret: secretOf(nr, ticket), item: 10 + (ticket % 3) }),
  ...{ organizer, event: eventOf(ticket) },
});
/** Known to boxoffice alone. */
const lateTicket = ticketsOfCase + 1;

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

beforeAll(async () => {
  await checkin.reset();
  for (const organizer of organizers) {
    const events = ["first", "second"].map((event) => ({ organizer, event }));
    await checkin.deliver(
      topics.eventChanged,
      events.map((place) => ({ ...eventFact(), ...place })),
    );
    await checkin.deliver(
      topics.itemChanged,
      events.flatMap((place) => [
        { ...itemFact(10), ...place },
        { ...itemFact(11), ...place },
        { ...itemFact(12, { mediaPolicy: "reuse_or_new", mediaType: "nfc_uid" }), ...place },
      ]),
    );
    const document = Buffer.from(questionDocument(7, { items: [11] }));
    await checkin.deliver(topics.questionChanged, [
      { ...questionFact(7, { items: [11], document }), organizer, event: "first" },
    ]);
    const wanted = [
      ["once", "first", {}],
      ["often", "first", { allowMultipleEntries: true }],
      ["ruled", "second", { allowMultipleEntries: true, rules: `{"<":[{"var":"entries_number"},1]}` }],
    ] as const;
    for (const [name, event, fields] of wanted) {
      const { list } = await checkin.lists.createCheckinList({
        organizer,
        event,
        fields: listFields({ name, ...fields }),
      });
      lists.set(`${organizer}/${name}`, list?.id ?? 0);
    }
    await checkin.deliver(
      topics.positionChanged,
      numbers(cases).flatMap((nr) => numbers(ticketsOfCase).map((ticket) => factOf(organizer, nr, ticket))),
    );
    await checkin.deliver(
      topics.reusableMediumChanged,
      numbers(cases).map((nr) => ({
        ...mediumFact(nr, { type: "barcode", identifier: `BAND${nr}` }),
        linkedPositions: [{ event: "first", id: idOf(nr, 1) }],
        organizer,
      })),
    );
    await checkin.deliver(
      topics.revokedSecretChanged,
      numbers(cases).map((nr) => ({
        ...revokedSecretFact(nr, { secret: `gone${nr}`, position: idOf(nr, 2) }),
        ...{ organizer, event: "first" },
      })),
    );
  }
  checkin.sold = async (wanted) =>
    wanted.flatMap(({ organizer, event, secret }) => {
      const [, nr] = /^c(\d+) t7$/.exec(secret) ?? [];
      const isSold = nr !== undefined && event === eventOf(lateTicket);
      return isSold ? [PositionChanged.encode(factOf(organizer, Number(nr), lateTicket)).finish()] : [];
    });
});

interface Sent {
  readonly scan: Scan;
  readonly on: readonly string[];
}

/** Scans of few tickets, so that most are decided by what the earlier ones changed. */
function anyScans(nr: number, { below, pick }: Dice): Sent[] {
  const codes = [
    ...numbers(lateTicket).map((ticket) => secretOf(nr, ticket)),
    ...[`BAND${nr}`, `BAND${nr}`, `gone${nr}`, `nothing${nr}`, `c${nr}+t1`, secretOf(nr, 4), secretOf(nr, 2)],
  ];
  const few = [pick(codes), pick(codes), pick(codes)];
  const all: Sent[] = [];
  for (let index = 0; index < scansOfCase; index += 1) {
    const earlier = all.length > 0 && below(6) === 0 ? pick(all) : undefined;
    if (earlier !== undefined) {
      all.push(earlier);
      continue;
    }
    const nonces = [undefined, `${nr}-${index}`, `${nr}-${index}`, `${nr}-${index}`, `${nr}-${below(index + 1)}`];
    const nonce = pick(nonces);
    const answered = below(3) === 0 ? [{ question: 7, value: pick(["true", '"false"', "[]"]) }] : [];
    const medium = below(3) === 0 ? { exchangeMedium: { type: "nfc_uid", identifier: `04${nr}${below(2)}` } } : {};
    all.push({
      on: pick([
        ["once"],
        ["once"],
        ["often"],
        ["ruled"],
        ["once", "ruled"],
        ["ruled", "often"],
        ["unknown"],
        ["once", "often"],
      ]),
      scan: scan(0, below(3) === 0 ? pick(codes) : pick(few), {
        ...{ organizer: "", event: "", at: noon + (index + below(5) - 2) * minute, force: below(5) === 0 },
        ...{
          type: below(3) === 0 ? ScanType.EXIT : ScanType.ENTRY,
          questionsSupported: below(8) > 0,
          answers: answered,
        },
        ...(nonce === undefined ? {} : { nonce }),
        ...medium,
      }),
    });
  }
  return all;
}

const listsOf = (organizer: Organizer, on: readonly string[]) =>
  on.map((name) => lists.get(`${organizer}/${name}`) ?? unknownList);

/** An outcome without the ids of lists and scans. */
function shown({ list, position, ...outcome }: ScanOutcome): unknown {
  return {
    ...outcome,
    list: list && { ...list, id: 0 },
    position: position && {
      ...position,
      checkins: position.checkins.map((checkin) => ({ ...checkin, id: 0, list: 0 })),
    },
  };
}

async function sendAlone({ scan: sent, on }: Sent): Promise<unknown> {
  try {
    const { outcome } = await scans.redeemOnLists({
      scan: { ...sent, organizer: "alone" },
      lists: listsOf("alone", on),
    });
    if (outcome === undefined) throw new Error("no outcome came back");
    return shown(outcome);
  } catch (error) {
    if (error instanceof Fault && error.kind === "invalid") return error.fields?.["lists"]?.length;
    throw error;
  }
}

async function sendTogether(sent: readonly Sent[]): Promise<unknown[]> {
  const request = sent.map(({ scan: each, on }) => ({ scan: each, lists: listsOf("together", on) }));
  const { answers } = await scans.redeemMany({ organizer: "together", scans: request, isSlim: false });
  return answers.map(({ answer }) =>
    answer?.$case === "outcome" ? shown(answer.value) : answer?.value.problems.length,
  );
}

/** Boxoffice has to answer within a fraction of a second; on a busy machine it may not, and the code is unknown. */
const wasNotAnswered = () => checkin.lines.some((line) => line.includes("boxoffice gave no answer"));

/** The scans of each ticket in the order of storing, with the name of their list. */
async function storedBy(organizer: Organizer, unsure: ReadonlySet<number>): Promise<unknown[]> {
  const rows = await db.many<{ position: number | null; raw_code: string | null }>(sql`
    select scan.event, scan.position, scan.type, scan.successful, scan.reason, scan.at, scan.nonce, scan.forced, scan.raw_code,
           list.name as list
      from scan
      join list on list.organizer = scan.organizer and list.event = scan.event and list.id = scan.list
     where scan.organizer = ${organizer}
     order by scan.position, scan.raw_code, list.name, scan.successful, scan.id`);
  const caseOf = ({ position, raw_code }: (typeof rows)[number]) =>
    position === null ? Number(/\d+/.exec(raw_code ?? "")?.[0]) : Math.floor(position / 10);
  return rows.filter((row) => !unsure.has(caseOf(row)));
}

it("[F2.3] a batch comes to what its scans come to one after the other, on 300 random ones", async () => {
  const seed = Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 31));
  const kinds = new Map<string, number>();
  const all = numbers(cases).map((nr) => ({ nr, sent: anyScans(nr, rollFrom(seed + nr)) }));
  const unsure = new Set<number>();
  for (let from = 0; from < cases; from += casesAtOnce) {
    const now = all.slice(from, from + casesAtOnce);
    checkin.lines.length = 0;
    const both = await Promise.all(
      now.map(async ({ nr, sent }) => {
        const [together, alone] = await Promise.all([
          sendTogether(sent),
          (async () => {
            const outcomes: unknown[] = [];
            for (const each of sent) outcomes.push(await sendAlone(each));
            return outcomes;
          })(),
        ]);
        return { nr, together, alone };
      }),
    );
    if (wasNotAnswered()) {
      for (const { nr } of now) unsure.add(nr);
      continue;
    }
    for (const { nr, together, alone } of both) {
      expect(together, `case ${nr} of seed ${seed}`).toEqual(alone);
      for (const each of alone) {
        const said = (each as ScanOutcome | number) instanceof Object ? (each as ScanOutcome).outcome : undefined;
        const kind = said?.$case === "refused" ? said.value.reason : (said?.$case ?? "lists");
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      }
    }
  }
  expect(await storedBy("together", unsure), `seed ${seed}`).toEqual(await storedBy("alone", unsure));
  const { counted, recounted } = await recount(db);
  expect(counted).toEqual(recounted);
  for (const kind of [
    "admitted",
    "already_redeemed",
    "incomplete",
    "exchange",
    "revoked",
    "rules",
    "unknownTicket",
    "lists",
  ])
    expect([kind, kinds.get(kind) ?? 0]).toEqual([kind, expect.toSatisfy((count: number) => count > 3)]);
});
