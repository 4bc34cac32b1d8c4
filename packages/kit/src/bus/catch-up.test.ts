import { expect, it, vi } from "vitest";
import { createLog } from "../telemetry/log.ts";
import type { Backlog } from "./bus.ts";
import { catchUp, isFirst } from "./catch-up.ts";

const lines: string[] = [];
const log = createLog({ service: "test", destination: { write: (line) => void lines.push(line) } });

/** A consumer whose work takes so many questions. */
function consumerOf(questions: number) {
  let asked = 0;
  const consumer = {
    topic: "shredder.shred-requested.v1",
    owner: "shredder",
    hasOutdated: async () => false,
    servesAfter: async () => asked++ >= questions,
    deliver: async () => {},
    replay: async () => "not claimed" as const,
  };
  if (!isFirst(consumer)) throw new Error("it is one");
  return { consumer, asked: () => asked };
}

const backlogOf = (messages: readonly number[], group = "reader") => {
  const left = [...messages];
  return async (): Promise<Backlog[]> => [
    { group, topic: "shredder.shred-requested.v1", messages: left.shift() ?? 0 },
    { group, topic: "boxoffice.event-changed.v1", messages: 7 },
  ];
};

it("[D6.12] waits until the facts are accepted, and then until what they began has ended", async () => {
  const { consumer, asked } = consumerOf(2);
  const backlog = vi.fn(backlogOf([2, 1]));
  await catchUp([consumer], { bus: { backlog }, group: "reader", log });
  expect([backlog.mock.calls.length, asked()]).toEqual([5, 3]);
});

it("[D6.12] does not wait for other groups", async () => {
  const { consumer } = consumerOf(0);
  const backlog = vi.fn(backlogOf([5], "checkin"));
  await catchUp([consumer], { bus: { backlog }, group: "reader", log });
  expect(backlog).toHaveBeenCalledTimes(1);
});

it("[D6.12] asks again where the bus refuses its first questions", async () => {
  const { consumer, asked } = consumerOf(1);
  const refusals = [
    new Error("the coordinator is loading"),
    new Error("not the coordinator"),
    undefined,
    new Error("moved"),
  ];
  const backlog = vi.fn(async () => {
    const refusal = refusals.shift();
    if (refusal !== undefined) throw refusal;
    return [];
  });
  const before = lines.length;
  await catchUp([consumer], { bus: { backlog }, group: "reader", log });
  expect([backlog.mock.calls.length, asked(), lines.length - before]).toEqual([5, 2, 0]);
});

it("[D6.12] does not wait for a bus that is away, also not for one that went away meanwhile", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    for (const answers of [0, 2]) {
      const { consumer, asked } = consumerOf(Number.POSITIVE_INFINITY);
      let questions = 0;
      const backlog = async () => {
        questions += 1;
        if (questions <= answers) return [];
        vi.setSystemTime(Date.now() + 600);
        throw new Error("away");
      };
      const before = Date.now();
      await catchUp([consumer], { bus: { backlog }, group: "reader", log });
      expect([asked(), questions - answers, Date.now() - before]).toEqual([answers, 9, 5400]);
      expect(lines.at(-1)).toContain("serves without knowing");
    }
  } finally {
    vi.useRealTimers();
  }
});

it("[D6.12] does not wait for a bus that gives no answer", async () => {
  vi.useFakeTimers();
  try {
    const { consumer, asked } = consumerOf(0);
    const waiting = catchUp([consumer], { bus: { backlog: () => new Promise(() => {}) }, group: "reader", log });
    await vi.advanceTimersByTimeAsync(5000);
    await waiting;
    expect(asked()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

it("[D6.12] does not wait for ever", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    const { consumer } = consumerOf(Number.POSITIVE_INFINITY);
    const backlog = async () => {
      vi.setSystemTime(Date.now() + 5000);
      return [];
    };
    await catchUp([consumer], { bus: { backlog }, group: "reader", log });
    expect(lines.at(-1)).toContain("serves before it has done");
  } finally {
    vi.useRealTimers();
  }
});
