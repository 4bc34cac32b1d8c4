import { expect, it } from "vitest";
import { composeSeatName } from "./compose-seat-name.ts";

const seat = { zone_name: "Stalls", row_name: "4", row_label: null, seat_number: "17", seat_label: null };

it.each([
  [{}, "Stalls, Row 4, Seat 17"],
  [{ zone_name: "" }, "Row 4, Seat 17"],
  [{ row_label: "Box 4", seat_label: "Armchair" }, "Stalls, Box 4, Armchair"],
  [{ row_label: "", row_name: "" }, "Stalls, Seat 17"],
  [{ zone_name: "", row_name: "", seat_number: "" }, ""],
])("names a seat with %o", (changes, name) => {
  expect(composeSeatName({ ...seat, ...changes })).toBe(name);
});
