import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "@tessera/kit/fault";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { publicUrl } from "../../http/public-url.ts";
import { type EventPlace, placing } from "../../placed.ts";
import { pagePdfDataReader, pdfDataReader, type ReadPdfData } from "./pdf-data.ts";

const place = (organizer: string) => ({
  organizer,
  event: "fest",
  url: publicUrl("https://tickets.example", "/", new URLSearchParams()),
  inEvent: placing<EventPlace>({ organizer, event: "fest" }),
});
const answer = { tickets: [{ position: 1, texts: { order: "A" }, images: {} }] };

let asked: string[];
let evaluate: (organizer: string) => Promise<typeof answer>;
let read: ReadPdfData;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance", "Date"] });
  asked = [];
  evaluate = async () => answer;
  read = pdfDataReader({
    rendering: {
      evaluateVariables: ({ organizer }) => {
        asked.push(organizer);
        return evaluate(organizer);
      },
    },
  });
});
afterEach(() => {
  vi.useRealTimers();
});

const away = () => Promise.reject(new Fault("unavailable", "peer_unavailable", "away"));

it("[L55.1] a service that is away costs three questions, and then nothing", async () => {
  evaluate = away;
  for (let scan = 0; scan < 100; scan += 1) expect(await read(place("one"), [1])).toEqual(new Map());
  expect(asked).toHaveLength(3);
});

it("[L55.1] a scan never waits for the question that finds out whether it is back", async () => {
  evaluate = away;
  for (let scan = 0; scan < 3; scan += 1) await read(place("one"), [1]);
  let release: (given: typeof answer) => void = () => undefined;
  evaluate = () =>
    new Promise((resolve) => {
      release = resolve;
    });
  vi.advanceTimersByTime(1001);
  expect(await read(place("one"), [1])).toEqual(new Map());
  expect(await read(place("one"), [1])).toEqual(new Map());
  expect(asked).toHaveLength(4);
  release(answer);
  evaluate = async () => answer;
  await sleep(0);
  expect((await read(place("one"), [1])).get(1)).toEqual({ order: "A", images: {} });
});

it("[L55.2] an organizer whose data cannot be had keeps others from nothing", async () => {
  evaluate = (organizer) => (organizer === "slow" ? new Promise(() => undefined) : Promise.resolve(answer));
  for (let scan = 0; scan < 100; scan += 1) void read(place("slow"), [1]);
  expect(asked).toHaveLength(8);
  expect((await read(place("other"), [1])).size).toBe(1);
});

it("[E4.13] a page of orders asks twice, and shows what was answered", async () => {
  const tickets = Array.from({ length: 350 }, (_, index) => index + 1);
  const parts: number[] = [];
  const readPage = pagePdfDataReader({
    rendering: {
      evaluateVariables: async ({ positions }) => {
        parts.push(positions.length);
        if (parts.length === 2 || parts.length > 4) throw new Fault("unavailable", "peer_unavailable", "away");
        return { tickets: positions.map((position) => ({ position, texts: { order: "A" }, images: {} })) };
      },
    },
  });
  const data = await readPage(place("one"), tickets);
  expect(parts).toEqual([100, 100, 100, 100, 50, 50]);
  expect([data.size, data.get(300), data.get(301)]).toEqual([300, { order: "A", images: {} }, undefined]);
});
