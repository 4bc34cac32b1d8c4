import { expect, it } from "vitest";
import { kindsOfEvents } from "../store/synced-rows.ts";
import { packedKinds, readPackPlace, writePackPlace } from "./pack-place.ts";

it("[F4.1] is among all that the feed has of an event, and media; tickets come last", () => {
  expect(packedKinds.toSorted()).toEqual([...kindsOfEvents, "medium"].toSorted());
  expect(packedKinds.at(-1)).toBe("ticket");
});

it.each(packedKinds)("[F4.8] reads as it was written, behind a %s", (kind) => {
  for (const after of [-1, 0, 2 ** 53 - 1]) {
    const place = { kind, after, chain: "Ab-_34567890" };
    expect(readPackPlace(writePackPlace(place))).toEqual(place);
  }
});
