import { arrivedScan } from "@tessera/admission/testing/decisions";
import { Fault, type FaultKind } from "@tessera/kit/fault";
import type { WantedTicket } from "@tessera/protos/gen/ticketing/boxoffice/v1/tickets";
import { expect, it, vi } from "vitest";
import { askBoxoffice } from "./ask-boxoffice.ts";

/** Asks a boxoffice that answers as a test says. */
function asking(answer: (wanted: readonly WantedTicket[]) => Promise<void>) {
  const unknown = askBoxoffice({
    tickets: {
      async findTickets({ tickets }) {
        await answer(tickets);
        return { facts: [] };
      },
    },
    apply: async () => {},
    clock: { now: () => 0 },
    events: { ticketsNotFound() {} },
  });
  return (organizer: string, code = "code", events = 1) => {
    const others = numbers(events - 1).map((list) => ({ event: `event-${list}`, list }));
    return unknown.fetch(arrivedScan({ organizer, code, others }));
  };
}

/** Asks a boxoffice that fails for the organizer "slow"; returns for whose codes it was asked. */
function askingSlow(kind: FaultKind) {
  const asked: string[] = [];
  const ask = asking(async ([{ organizer } = { organizer: "" }]) => {
    asked.push(organizer);
    if (organizer === "slow") throw new Fault(kind, kind, "no answer");
  });
  return { asked, ask };
}

/** Asks a boxoffice that answers when a test tells it to. */
function askingHeld() {
  const calls: { readonly wanted: readonly WantedTicket[]; answer(): void; fail(error: Error): void }[] = [];
  const ask = asking((wanted) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    calls.push({ wanted, answer: resolve, fail: reject });
    return promise;
  });
  return { calls, ask };
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

/** Lets everything run that is ready. */
const turn = async () => {
  for (let index = 0; index < 3; index += 1) await new Promise((resolve) => setImmediate(resolve));
};

it("[C3.16] boxoffice rests from an organizer for which it is too slow, and is asked for the others", async () => {
  const { asked, ask } = askingSlow("timeout");
  for (const organizer of ["slow", "slow", "other"]) await ask(organizer);
  expect(asked).toEqual(["slow", "other"]);
});

it("[C3.16] boxoffice is asked for nothing while it cannot be reached", async () => {
  const { asked, ask } = askingSlow("unavailable");
  for (const organizer of ["slow", "other"]) await ask(organizer);
  expect(asked).toEqual(["slow"]);
});

it("[C3.16] boxoffice is asked for each code of a turn once, and for no more than 256 in a call", async () => {
  const { calls, ask } = askingHeld();
  const asked = numbers(600).map((index) => ask("other", `code-${index % 300}`));
  await turn();
  expect(calls.map(({ wanted }) => wanted.length)).toEqual([256, 44]);
  for (const { answer } of calls) answer();
  expect(new Set(await Promise.all(asked))).toEqual(new Set([true]));
});

it("[C3.16] boxoffice is asked for every code in the events of all lists, in two calls at a time", async () => {
  const { calls, ask } = askingHeld();
  const codes = numbers(40).map((index) => `code-${index}`);
  const answers = codes.map((code) => ask("busy", code, 32));
  await turn();
  expect(calls).toHaveLength(2);
  const other = ask("other");
  for (let index = 0; index < calls.length; index += 1) {
    await turn();
    expect(calls.length - index).toBeLessThanOrEqual(3);
    calls[index]?.answer();
    await turn();
  }
  expect(new Set(await Promise.all([...answers, other]))).toEqual(new Set([true]));
  const wanted = calls.flatMap((call) => call.wanted.filter(({ organizer }) => organizer === "busy"));
  expect(wanted).toHaveLength(40 * 32);
  expect(new Set(wanted.map(({ event, secret }) => `${event}/${secret}`)).size).toBe(40 * 32);
});

it("[C3.16] a code for which there is no room for three seconds is not known to be unknown, and has room later", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { calls, ask } = askingHeld();
  const held: Promise<boolean>[] = [];
  for (const code of ["held 1", "held 2"]) {
    held.push(ask("busy", code));
    await turn();
  }
  const crowded = ask("busy");
  await turn();
  vi.advanceTimersByTime(3000);
  expect(await crowded).toBe(false);
  vi.useRealTimers();
  for (const { answer } of calls) answer();
  expect(await Promise.all(held)).toEqual([true, true]);
  const later = ask("busy");
  await turn();
  calls[2]?.answer();
  expect(await later).toBe(true);
});

it("[C3.16] codes that wait are unknown as soon as boxoffice is away", async () => {
  const { calls, ask } = askingHeld();
  const answers: Promise<boolean>[] = [];
  for (const code of ["a", "b", "c"]) {
    answers.push(ask("busy", code));
    await turn();
  }
  for (const { fail } of calls) fail(new Fault("unavailable", "unavailable", "boxoffice is away"));
  expect(await Promise.all(answers)).toEqual([true, true, true]);
  expect(calls).toHaveLength(2);
});
