import type { EventDocument } from "@tessera/resources/records/event";
import { describe, expect, it } from "vitest";
import { defaultSettings } from "../records/event-settings.ts";
import { eventFact } from "./event-fact.ts";

const keysOf = (document: object) => {
  const dates = { date_from: "2027-01-01T00:00:00Z", date_to: null, date_admission: null };
  const data = { name: {}, ...dates, ...document } as EventDocument;
  return eventFact("org", { slug: "fest", data, settings: {}, revision: 1 }, defaultSettings.data).ticketKeys;
};

describe("the keys of signed tickets", () => {
  it.each([
    ["of its scheme", { valid_keys: { pretix_sig1: ["a", "b"], other: ["c"] } }, ["a", "b"]],
    ["of no scheme", { valid_keys: {} }, []],
    ["that are null", { valid_keys: null }, []],
    ["that an earlier version did not store", {}, []],
  ])("are published: %s", (_name, document, expected) => {
    expect(keysOf(document)).toEqual({ pretixSig1: expected });
  });
});
