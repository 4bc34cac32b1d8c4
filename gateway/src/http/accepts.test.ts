import { describe, expect, it } from "vitest";
import { accepts, acceptsCoding } from "./accepts.ts";

describe("accepts", () => {
  it.each([
    ["application/json", true],
    ["APPLICATION/JSON;charset=utf-8", true],
    ["text/*, application/*", true],
    ["*/*;q=0.1", true],
    ["*/*;q=0", false],
    ["application/json;q=0, */*", false],
    ["*/*, application/json;q=0.0", false],
    ["application/*;q=0, application/json", true],
    ["application/json;q=0, application/json;q=1", true],
    ["text/html,application/xhtml+xml", false],
    ["application/jsonp", false],
    [",,;", false],
  ])("%j: %s", (header, accepted) => {
    expect(accepts(header, "application/json")).toBe(accepted);
  });
});

describe("acceptsCoding", () => {
  it.each([
    ["gzip", true],
    ["deflate, GZIP;q=0.5", true],
    ["br, *", true],
    ["gzip;q=0", false],
    ["gzip; q=0.000, *", false],
    ["*;q=0, gzip", true],
    ["*;q=0", false],
    ["identity, br", false],
    ["gzipped", false],
    ["", false],
  ])("%j: %s", (header, accepted) => {
    expect(acceptsCoding(header, "gzip")).toBe(accepted);
  });
});
