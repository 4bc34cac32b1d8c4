import { expect, it, vi } from "vitest";
import { type ImportAnswer, report } from "./import.ts";

const overbooked = (quota: number) => ({ organizer: "bigevents", event: "sampleconf", quota, size: 100, taken: 103 });

function reported(answer: Partial<ImportAnswer>): string[] {
  const lines: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => lines.push(String(text)) > 0);
  const all = { records: 2, accepted: 2, rejected: 0, kinds: {}, errors: [], settled: true, overbooked: [] };
  report({ ...all, ...answer });
  return lines;
}

it.each([
  ["nothing where there is room for everything", [], []],
  [
    "every overbooked quota, in a line each",
    [overbooked(7), overbooked(8)],
    [7, 8].map((quota) => `  quota ${quota} of bigevents/sampleconf is overbooked: 103 taken of 100\n`),
  ],
  ["that nobody could say", null, [expect.stringContaining("could not be found out")]],
])("the report of an import says %s", (_name, quotas, expected) => {
  expect(reported({ overbooked: quotas })).toEqual(["2 records, 2 accepted, 0 rejected\n", ...expected]);
});
