import { expect, it } from "vitest";
import { decide, entered, inWord, match } from "./testing/decisions.ts";

const inside = match({}, { presence: entered });
const full = { room: { limit: 500, inside: 500 } };

it.each([
  ["an entry where there is room", [match()], { room: { limit: 500, inside: 499 } }, "admitted"],
  ["an entry at the limit", [match()], full, "rules"],
  ["an entry above it", [match()], { room: { limit: 500, inside: 512 } }, "rules"],
  ["an exit", [inside], { ...full, how: { type: "exit" } }, "admitted"],
  ["a ticket that entered before", [inside], full, "already_redeemed"],
  ["another entry of one who is inside", [inside], { ...full, on: { allowMultipleEntries: true } }, "admitted"],
  ["a ticket that is not valid", [match({ blocked: true })], full, "blocked"],
] as const)("[C10.2] %s", (_name, matches, otherwise, expected) => {
  expect(inWord(matches, otherwise)).toBe(expected);
});

it("[C10.2, C10.4] says the limit, and lets a forced entry overrule it", () => {
  expect(decide([match()], full)).toMatchObject({ explanation: "Full: 500 persons may be inside." });
  expect(decide([match()], { ...full, locale: "de" })).toMatchObject({
    explanation: "Voll: 500 Personen dürfen drin sein.",
  });
  expect(decide([match()], { ...full, how: { force: true } })).toMatchObject({ overruled: "limit" });
});
