import type { Db } from "@tessera/kit/pg/database";
import type { ListedPosition } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { expect, it } from "vitest";
import { inWord, scan } from "../../testing/start-checkin.ts";
import { type RedeemDeps, redeem } from "./redeem.ts";

const answer = {
  question: 7,
  answer: "x".repeat(9_000_000),
  questionIdentifier: "Q",
  options: [],
  optionIdentifiers: [],
};
const outcome: ScanOutcome = {
  outcome: { $case: "admitted", value: {} },
  list: undefined,
  position: { checkins: [], addons: [], position: { id: 1, answers: [answer] } } as unknown as ListedPosition,
  checkinTexts: [],
};

it("[C3.43] a large outcome fits a message also where its resources cannot be read", async () => {
  const failures: unknown[] = [];
  const deps = {
    urgent: { many: () => Promise.reject(new Error("the database is away")) } as unknown as Db,
    clock: { now: () => 0 },
    events: { scanDecided() {}, scanAhead() {}, notExpanded: (error: unknown) => failures.push(error) },
    batches: { submit: async () => outcome },
    unknownTickets: { mayBeAsked: () => false, fetch: async () => {} },
  } as unknown as RedeemDeps;
  const expand = { subevent: false, item: true, variation: false, answersQuestion: false, addons: true };
  const call = { signal: new AbortController().signal, deadline: Date.now() + 5000 };
  const { outcome: fitted } = await redeem({ scan: scan(1, "secret1", { expand }) }, deps, call);
  expect(failures).toHaveLength(1);
  expect(inWord(fitted ?? outcome)).toBe("admitted");
  expect(fitted?.position?.position?.answers).toEqual([]);
});
