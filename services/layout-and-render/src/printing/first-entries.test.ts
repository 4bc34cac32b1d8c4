import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "@tessera/kit/fault";
import type { CallOptions } from "@tessera/kit/rpc";
import type { FindFirstEntriesRequest } from "@tessera/protos/gen/ticketing/checkin/v1/first_entries";
import { expect, it } from "vitest";
import { evaluateVariables } from "../handlers/evaluate-variables.ts";
import { printing } from "../testing/print-ticket.ts";
import { ticketAnswer } from "../testing/ticket-answer.ts";
import { findScans, PatientScans } from "./first-entries.ts";

const place = { organizer: "org", event: "fest" };
const call = { signal: new AbortController().signal, deadline: Number.POSITIVE_INFINITY };

/** A check-in that records its requests. */
function checkin(answer: () => Promise<{ scanned: { position: number; firstEntryAt?: number }[] }>) {
  const asked: (FindFirstEntriesRequest & CallOptions)[] = [];
  const findFirstEntries = (request: FindFirstEntriesRequest, options: CallOptions = {}) => {
    asked.push({ ...request, ...options });
    return answer();
  };
  return { asked, firstEntries: { findFirstEntries } };
}
const scanned = [{ position: 1, firstEntryAt: 1_766_858_400_000_000 }, { position: 2 }];
const failures = [
  new Fault("unavailable", "peer_unavailable", "away"),
  new Fault("timeout", "deadline_exceeded", "late"),
  // The answer of an older version.
  new Fault("unmet", "unmet", "method not implemented"),
  new Error("broken"),
];

it("scans are asked for once, each ticket by its id", async () => {
  const { asked, firstEntries } = checkin(async () => ({ scanned }));
  expect(await findScans(firstEntries, place, [1, 3, 1])).toEqual(
    new Map([
      [1, 1_766_858_400_000_000],
      [2, null],
    ]),
  );
  expect(asked).toEqual([{ ...place, positions: [1, 3], timeoutMs: 2000, signal: undefined }]);
});

it.each(failures)("[L50.7] scans are not known after one failure: %s", async (failure) => {
  const { asked, firstEntries } = checkin(() => Promise.reject(failure));
  expect(await findScans(firstEntries, place, [1])).toBe(null);
  expect(asked).toHaveLength(1);
});

it("scans are asked for no longer than somebody waits", async () => {
  const { firstEntries } = checkin(() => Promise.reject(new Error("aborted")));
  await expect(findScans(firstEntries, { ...place, signal: AbortSignal.abort() }, [1])).rejects.toThrow("aborted");
});

it("[L50.7] a file waits two seconds for scans in all", async () => {
  const patience: number[] = [];
  const findFirstEntries = async (_request: FindFirstEntriesRequest, { timeoutMs = 0 }: CallOptions = {}) => {
    patience.push(timeoutMs);
    await sleep(Math.min(timeoutMs, 600));
    throw new Fault("timeout", "deadline_exceeded", "late");
  };
  const scans = new PatientScans({ findFirstEntries });
  for (let chunk = 0; chunk < 20; chunk += 1) expect(await scans.find(place, [chunk])).toBe(null);
  expect(patience[0]).toBe(2000);
  expect(patience.length).toBeGreaterThan(1);
  // Each request gets the patience that earlier ones have left.
  expect(patience.reduce((sum, each) => sum + Math.min(each, 600), 0)).toBeLessThanOrEqual(2000);
});

it("[L50.7] a file asks for scans again where check-in is away for a moment", async () => {
  let tries = 0;
  const { firstEntries } = checkin(async () => {
    tries += 1;
    if (tries === 1) throw new Fault("unavailable", "peer_unavailable", "away");
    return { scanned };
  });
  const scans = new PatientScans(firstEntries);
  expect(await scans.find(place, [1])).toBe(null);
  expect((await scans.find(place, [1]))?.get(1)).toBe(1_766_858_400_000_000);
});

/** All variables of two tickets; check-in answers before boxoffice does. */
async function evaluate({ asked, firstEntries }: ReturnType<typeof checkin>) {
  const ticketData = {
    readTicketData: async (request: Parameters<typeof ticketAnswer>[0]) => {
      await expect.poll(() => asked).toHaveLength(1);
      return ticketAnswer(request);
    },
  };
  const tools = { ticketData, firstEntries, formats: printing.formats, clock: { now: () => printing.now } };
  const { tickets } = await evaluateVariables({ ...place, positions: [1, 3] }, tools, call);
  return tickets.map(({ texts }) => [texts["first_scan"], texts["checked_in_addons"], texts["order"]]);
}

it("[L10.11, L14.7] all variables are told with one question for scans, at the same time as the others", async () => {
  const asking = checkin(async () => ({ scanned }));
  expect(await evaluate(asking)).toEqual([
    ["2025-12-27 18:00", "", "ABCDE"],
    ["", "", "ABCDE"],
  ]);
  expect(asking.asked).toMatchObject([{ ...place, positions: [1, 3], timeoutMs: 250 }]);
});

it.each(failures)("[L55.3] all other variables are told where scans are not: %s", async (failure) => {
  expect(await evaluate(checkin(() => Promise.reject(failure)))).toEqual([
    ["", "", "ABCDE"],
    ["", "", "ABCDE"],
  ]);
});
