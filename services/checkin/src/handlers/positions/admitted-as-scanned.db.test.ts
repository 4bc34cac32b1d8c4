import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { topics } from "@tessera/protos/topics";
import { array, assert, asyncProperty, boolean, constantFrom, integer, option, record } from "fast-check";
import { expect, it } from "vitest";
import { askIdsInOrder, filters } from "../../testing/ask-positions.ts";
import { checkinDatabase } from "../../testing/database.ts";
import {
  blockedSecretFact,
  eventFact,
  itemFact,
  minute,
  noon,
  positionFact,
  subeventFact,
} from "../../testing/facts.ts";
import { inWord, scan, startCheckin } from "../../testing/start-checkin.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
const custom = (at: number) => ({ buildTime: ["custom", new Date(at / 1000).toISOString()] });

const anyRules = constantFrom<object>(
  { isAfter: [{ var: "now" }, { buildTime: ["date_from"] }, 0] },
  { isBefore: [{ var: "now" }, { buildTime: ["date_from"] }, 0] },
  { inList: [{ var: "product" }, { objectList: [{ lookup: ["product", "11", "x"] }] }] },
  { inList: [{ var: "variation" }, { objectList: [{ lookup: ["variation", "7", "x"] }] }] },
  { "==": [{ var: "entry_status" }, "present"] },
  { "==": [{ var: "entry_status" }, "absent"] },
  { "<": [{ var: "entries_number" }, 1] },
  { ">=": [{ var: "entries_number" }, 2] },
  { "<": [{ var: "entries_today" }, 2] },
  { "==": [{ var: "entries_days" }, 1] },
  { ">": [{ var: "minutes_since_last_entry" }, 30] },
  { "<": [{ var: "minutes_since_first_entry" }, 90] },
  { "<": [{ entries_since: [custom(noon - 60 * minute)] }, 1] },
  { ">": [{ entries_before: [custom(noon - 60 * minute)] }, 0] },
  { "<": [{ entries_days_since: [custom(noon - 1440 * minute)] }, 2] },
);

const anyTicket = record({
  item: constantFrom(10, 11),
  variation: constantFrom(undefined, 7, 8),
  subevent: constantFrom(undefined, 5, 6),
  blocked: constantFrom<string[]>([], [], [], ["admin"]),
  validFrom: option(integer({ min: -1, max: 1 }), { nil: undefined, freq: 2 }),
  validUntil: option(integer({ min: -1, max: 1 }), { nil: undefined, freq: 2 }),
  hasBlockedCode: constantFrom(false, false, false, true),
});

const anyScan = record({
  ticket: integer({ min: 1, max: 8 }),
  before: constantFrom(0, 1, 29, 30, 31, 60, 90, 1439, 1440, 3000),
  type: constantFrom(ScanType.ENTRY, ScanType.EXIT),
  isOther: boolean(),
});

it("[C2.14] the tickets that are shown are those that scans of this moment admit", async () => {
  const material = {
    tickets: array(anyTicket, { minLength: 1, maxLength: 8 }),
    scans: array(anyScan, { maxLength: 14 }),
    parts: array(anyRules, { minLength: 1, maxLength: 3 }),
    operator: constantFrom("and", "or"),
  };
  const seen = new Set<string>();
  await assert(
    asyncProperty(record(material), async ({ tickets, scans, parts, operator }) => {
      await checkin.reset();
      await checkin.deliver(topics.eventChanged, [eventFact({ hasSubevents: true, dateFrom: noon })]);
      await checkin.deliver(topics.subeventChanged, [subeventFact(5, { dateFrom: noon + 60 * minute })]);
      await checkin.deliver(topics.itemChanged, [itemFact(10), itemFact(11)]);
      const terms = { allowMultipleEntries: true, rules: JSON.stringify({ [operator]: parts }) };
      const [list, other] = [(await checkin.createList(terms)).id, (await checkin.createList(terms)).id];
      const codeOf = (index: number) => `secret${index + 1}`;
      await checkin.deliver(
        topics.positionChanged,
        tickets.map(({ item, variation, subevent, blocked: blockers, validFrom, validUntil }, index) =>
          positionFact(index + 1, {
            ...{ item, variation, subevent, blocked: blockers },
            ...(validFrom === undefined ? {} : { validFrom: noon + validFrom }),
            ...(validUntil === undefined ? {} : { validUntil: noon + validUntil }),
          }),
        ),
      );
      const blocked = tickets.flatMap(({ hasBlockedCode }, index) =>
        hasBlockedCode ? [blockedSecretFact(index + 1, { secret: codeOf(index) })] : [],
      );
      if (blocked.length > 0) await checkin.deliver(topics.blockedSecretChanged, blocked);
      const earlier = scans
        .filter(({ ticket }) => ticket <= tickets.length)
        .map(({ ticket, before, type, isOther }) =>
          scan(isOther ? other : list, codeOf(ticket - 1), { at: noon - before * minute, type, force: true }),
        );
      if (earlier.length > 0) await checkin.redeemAll(earlier);
      const shown = await askIdsInOrder({ checkin, list }, { filters: filters({ admissibleNow: true }) });
      const outcomes = (await checkin.redeemAll(tickets.map((_, index) => scan(list, codeOf(index))))).map(inWord);
      for (const outcome of outcomes) seen.add(outcome);
      expect(shown).toEqual(outcomes.flatMap((outcome, index) => (outcome === "admitted" ? [index + 1] : [])));
    }),
    { numRuns: 60 },
  );
  expect([...seen].sort()).toEqual(["admitted", "blocked", "invalid_time", "rules"]);
});
