import { instant } from "@tessera/schema/build";
import { compileSchema } from "@tessera/schema/schema";
import { formatInstant } from "@tessera/values";
import { assert, integer, property } from "fast-check";
import { describe, expect, it } from "vitest";

describe("formatInstant", () => {
  it.each([
    [0, "1970-01-01T00:00:00Z"],
    [1, "1970-01-01T00:00:00.000001Z"],
    [-1, "1969-12-31T23:59:59.999999Z"],
    [1_704_067_200_123_000, "2024-01-01T00:00:00.123000Z"],
    [-62_135_596_800_000_000, "0001-01-01T00:00:00Z"],
  ])("[A9.1, A9.2] writes %i as %s", (us, text) => {
    expect(formatInstant(us)).toBe(text);
  });

  it("[A9.5] is read back as it was", () => {
    const check = compileSchema(instant());
    assert(
      property(integer({ min: Date.UTC(1686, 0) * 1000, max: Date.UTC(2254, 0) * 1000 }), (us) => {
        expect(check(formatInstant(us))).toEqual({ ok: true, value: us });
      }),
    );
  });
});
