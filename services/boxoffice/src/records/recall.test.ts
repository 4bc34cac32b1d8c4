import type { BroughtEntity } from "@tessera/protos/gen/ticketing/records/v1/records";
import { expect, it } from "vitest";
import type { Known } from "../domain/known.ts";
import { recall } from "./recall.ts";

const scope = { organizer: "o", event: "e" };
const nothing: Known = {
  ...{ organizer: false, series: undefined, events: new Map(), gates: new Map(), salesChannels: new Set() },
  ...{ subevents: new Set(), taxRules: new Set(), categories: new Set(), items: new Map(), orders: new Map() },
  ...{ codesMadeHere: new Set(), positions: new Map(), questions: new Map(), seats: new Map(), media: new Map() },
  ...{ linkedPositions: new Map(), tokens: new Map() },
};
const entity = (kind: string, key: string, data: object = {}, { event = "e", organizer = "o" } = {}): BroughtEntity => {
  return { kind, organizer, event, key, names: [], data: JSON.stringify(data) };
};
const order = (code: string, positions: readonly object[], given: readonly number[] = []) =>
  entity("order", code, { positions: positions.map((each) => ({ secret: "s", ...each })), given, changedAt: null });
const of = (code: string) => ({ order: code, secret: "s", changedAt: null, isLeftOut: false });
const seat = (guid: string, { id = null as number | null, isTaken = true } = {}) => ({
  id,
  guid,
  subevent: null,
  isTaken,
});

it("[R7.19] what records would have brought is known in their own event and organizer alone", () => {
  const all = [
    entity("organizer", "o", {}, { event: "" }),
    entity("event", "e", { isSeries: true }, { event: "" }),
    entity("item", "1", { variations: [11] }),
    entity("item", "2", { variations: [] }, { event: "other" }),
    entity("item", "3", { variations: [] }, { organizer: "another" }),
    order("A", [{ id: 5, seat: null }]),
    entity("order", "B", { positions: [{ id: 5, seat: null }], given: [], changedAt: null }, { event: "other" }),
  ];
  const known = recall(nothing, scope, all);
  expect(known).toMatchObject({ organizer: true, series: true, events: new Map([["e", true]]) });
  expect(known.items).toEqual(new Map([[1, new Set([11])]]));
  expect(known.positions).toEqual(new Map([[5, of("A")]]));
  expect(known.linkedPositions).toEqual(new Map([[5, ["e", "other"]]]));
  expect(nothing.items.size).toBe(0);
});

it("[R7.19] a position that an order gives away belongs to none until another has it", () => {
  const stored = { ...nothing, orders: new Map([["A", [1, 2]]]), positions: new Map([[1, of("A")]]) };
  const given = recall(stored, scope, [order("A", [{ id: 2, seat: null }], [1])]);
  expect(given.positions).toEqual(new Map([[2, of("A")]]));
  expect(given.orders).toEqual(new Map([["A", [1, 2]]]));
  const taken = recall(stored, scope, [order("A", [{ id: 2, seat: null }], [1]), order("B", [{ id: 1, seat: null }])]);
  expect(taken.positions.get(1)).toEqual(of("B"));
});

it("[R7.19] a seat is held by the position that would take it last, and by none where its order gave it up", () => {
  const row = { id: 7, guid: "A-1", subevent: null, data: {}, heldBy: 1 };
  const stored = { ...nothing, orders: new Map([["A", [1]]]), seats: new Map([[7, row]]) };
  expect(recall(stored, scope, [order("A", [{ id: 1, seat: null }])]).seats.get(7)?.heldBy).toBeNull();
  const canceled = [
    order("A", [{ id: 1, seat: seat("A-1", { isTaken: false }) }]),
    order("B", [{ id: 2, seat: seat("A-1") }]),
  ];
  expect(recall(stored, scope, canceled).seats.get(7)?.heldBy).toBe(2);
  const described = recall(nothing, scope, [
    order("A", [
      { id: 1, seat: seat("X") },
      { id: 2, seat: seat("Y") },
    ]),
  ]);
  expect([...described.seats.values()].map(({ guid, heldBy }) => [guid, heldBy])).toEqual([
    ["X", 1],
    ["Y", 2],
  ]);
});

it("[R7.19] a token belongs to who would have it last", () => {
  const stored = { ...nothing, tokens: new Map([["aa", "o/device/1"]]) };
  const brought = [
    entity("device", "1", { token: "bb" }, { event: "" }),
    entity("api_key", "k", { token: "aa" }, { event: "" }),
  ];
  expect(recall(stored, scope, brought).tokens).toEqual(
    new Map([
      ["bb", "o/device/1"],
      ["aa", "o/api_key/k"],
    ]),
  );
});
