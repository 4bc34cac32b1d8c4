import { expect, it } from "vitest";
import { any, arrayOf, id, mapOf, object, text } from "./build.ts";
import { knownFields } from "./known-fields.ts";

const room = object({ number: id() });
const house = object({
  name: text(),
  rooms: arrayOf(room),
  best: room,
  rules: any(),
  names: mapOf(text()),
  doors: mapOf(room),
  ids: arrayOf(id()),
});

it("[S3.4] leaves out what a schema does not know, at every depth", () => {
  const unknown = { organizer: "of-another", __proto__: null };
  const sent = JSON.parse(
    `{"name": "a", "__proto__": {"x": 1}, "rooms": [{"number": 1, "organizer": "x"}, "no room"], "best": {"number": 2, "x": {}},
      "doors": {"organizer": {"number": 3, "organizer": "x"}, "__proto__": {"number": 4}}, "organizer": "x"}`,
  ) as object;
  expect(JSON.stringify(knownFields(house, { ...sent, ...unknown }))).toBe(
    '{"name":"a","rooms":[{"number":1},"no room"],"best":{"number":2},"doors":{"organizer":{"number":3},"__proto__":{"number":4}}}',
  );
});

it("[S3.4] keeps what is open: any JSON, the names of maps, and elements without fields", () => {
  const sent = { rules: { organizer: { x: [{}] } }, names: { organizer: "x" }, ids: [1, 2] };
  expect(knownFields(house, sent)).toEqual(sent);
});
