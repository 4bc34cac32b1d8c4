import fc from "fast-check";
import type { RuleFacts } from "../rules/judge-rules.ts";
import { readers } from "./decisions.ts";

const moment = fc.integer({ min: -62_135_596_800, max: 253_402_300_799 }).map((seconds) => seconds * 1_000_000);
const nearMoment = fc.integer({ min: 1_750_000_000, max: 1_850_000_000 }).map((seconds) => seconds * 1_000_000);
const anyMoment = fc.oneof({ weight: 3, arbitrary: nearMoment }, moment);
/** Facts that rules ask for, with times in odd places. */
export const facts: fc.Arbitrary<RuleFacts> = fc.record({
  at: anyMoment,
  zone: fc
    .constantFrom("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Europe/Atlantis")
    .map(readers.zone),
  item: fc.integer({ min: 1, max: 3 }),
  variation: fc.option(fc.integer({ min: 1, max: 3 })),
  gate: fc.option(fc.integer({ min: 1, max: 3 })),
  scans: fc
    .array(fc.record({ type: fc.constantFrom("entry" as const, "exit" as const), at: anyMoment }), { maxLength: 5 })
    .map((scans) => scans.toSorted((a, b) => b.at - a.at)),
  dates: fc.record({ from: fc.option(anyMoment), to: fc.option(anyMoment), admission: fc.option(anyMoment) }),
});

const variable = fc.constantFrom(
  ...["product", "variation", "gate", "now", "now_isoweekday", "entry_status", "entries_number", "entries_today"],
  ...["entries_days", "minutes_since_last_entry", "minutes_since_first_entry"],
);
const constant = fc.oneof(
  fc.integer({ min: -3, max: 7 }),
  fc.double(),
  fc.boolean(),
  fc.constantFrom(
    null,
    "1",
    "absent",
    "present",
    "",
    "12:30",
    "x",
    [],
    [1, 2],
    ["1"],
    [{ var: "now" }],
    {},
    1e300,
    1e12,
  ),
);
const time = fc.oneof(
  fc.constantFrom(
    { buildTime: ["date_from"] },
    { buildTime: "date_to" },
    { buildTime: ["date_admission", null] },
    { buildTime: ["custom", "2026-03-29T02:30:00+01:00"] },
    { buildTime: ["custom", "9999-12-31T23:59:59Z"] },
    { buildTime: ["customtime", "02:15"] },
  ),
  fc.record({ buildTime: fc.array(constant, { maxLength: 3 }) }),
);
/** Rules of every operator, most of them without sense. */
export const { rules } = fc.letrec<{ rules: unknown; operand: unknown }>((tie) => ({
  rules: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    operation(["<", "<=", ">", ">=", "==", "!=", "inList", "isBefore", "isAfter"], tie("operand")),
    operation(["and", "or"], tie("rules")),
  ),
  operand: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    constant,
    fc.record({ var: variable }),
    time,
    operation(["entries_since", "entries_before", "entries_days_since", "entries_days_before"], time, 1),
    operation(["objectList", "lookup", "==", "<", "isAfter"], tie("operand")),
  ),
}));

function operation(operators: string[], operand: fc.Arbitrary<unknown>, count?: number): fc.Arbitrary<unknown> {
  const operands = fc.array(operand, count === undefined ? { maxLength: 4 } : { minLength: count, maxLength: count });
  return fc.tuple(fc.constantFrom(...operators), operands).map(([operator, given]) => ({ [operator]: given }));
}
