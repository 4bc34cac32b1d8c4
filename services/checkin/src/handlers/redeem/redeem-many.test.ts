import type { ArrivedScan } from "@tessera/admission";
import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { afterEach, expect, it, vi } from "vitest";
import { inWord, scan } from "../../testing/start-checkin.ts";
import { conflict, type Decision, queuedBehind } from "./decision.ts";
import { crowded, undecided } from "./outcome.ts";
import type { RedeemDeps } from "./redeem.ts";
import { redeemMany } from "./redeem-many.ts";

afterEach(() => {
  vi.useRealTimers();
});

const admitted: ScanOutcome = {
  outcome: { $case: "admitted", value: {} },
  list: undefined,
  position: undefined,
  checkinTexts: [],
};
const chunkSize = 4;

/** Decides chunks of four as a test says; a chunk is written by its codes. */
function deciding(decide: (codes: readonly string[]) => readonly Decision[]) {
  const chunks: string[][] = [];
  const deps = {
    clock: { now: () => 0 },
    events: { scanDecided() {}, scanAhead() {} },
    unknownTickets: { mayBeAsked: () => false },
    listPlaces: { require: async () => [{ event: "e", list: 1 }] },
    batches: {
      submitTogether: async (scans: readonly ArrivedScan[]) => {
        const codes = scans.slice(0, chunkSize).map(({ rawCode }) => rawCode);
        chunks.push(codes);
        return decide(codes);
      },
    },
  } as unknown as RedeemDeps;
  const redeem = async (count: number) => {
    const scans = Array.from({ length: count }, (_, index) => ({ scan: scan(0, `c${index}`), lists: [1] }));
    const call = { signal: new AbortController().signal, deadline: Date.now() + 60_000 };
    const { answers } = await redeemMany({ organizer: "o", scans, isSlim: true }, deps, call);
    return answers.map(({ answer }) => (answer?.$case === "outcome" ? inWord(answer.value) : ""));
  };
  return { chunks, redeem };
}

it("[F2.6] begins no chunk after four seconds, and answers the scans of those before", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const { redeem, chunks } = deciding((codes) => {
    vi.advanceTimersByTime(1500);
    return codes.map(() => admitted);
  });
  expect(await redeem(20)).toEqual(Array(12).fill("admitted"));
  expect(chunks).toHaveLength(3);
});

it("[F2.6] answers nothing where there is no room, and what was decided before there was none", async () => {
  expect(await deciding((codes) => codes.map(() => crowded)).redeem(8)).toEqual([]);
  let left = 1;
  const { redeem } = deciding((codes) => codes.map(() => (left-- > -3 ? admitted : crowded)));
  expect(await redeem(8)).toEqual(Array(4).fill("admitted"));
});

it("[F2.3] begins the next chunk when all of the last one are decided", async () => {
  let rounds = 0;
  const { redeem, chunks } = deciding((codes) => {
    rounds += 1;
    return codes.map((code) =>
      code === "c1" && rounds < 3 ? queuedBehind : code === "c2" && rounds < 6 ? conflict : admitted,
    );
  });
  expect(await redeem(6)).toEqual(Array(6).fill("admitted"));
  expect(chunks.map((codes) => codes.join())).toEqual(["c0,c1,c2,c3", "c1,c2", "c1,c2", "c2", "c2", "c2", "c4,c5"]);
});

it("[F2.3] leaves a scan undecided that another change holds back for three seconds", async () => {
  const { redeem } = deciding((codes) => codes.map((code) => (code === "c1" ? conflict : admitted)));
  expect(await redeem(6)).toEqual(["admitted", "undecided", ...Array(4).fill("admitted")]);
});

it("[F2.2] answers what a chunk says of one scan, and goes on", async () => {
  const { redeem } = deciding((codes) => codes.map((code) => (code === "c1" ? undecided : admitted)));
  expect(await redeem(6)).toEqual(["admitted", "undecided", ...Array(4).fill("admitted")]);
});
