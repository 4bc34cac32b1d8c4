import { expect, it } from "vitest";
import { closestName } from "./closest-name.ts";

const names = ["event.orders:read", "event.orders:write", "event.items:write"];

it.each([
  ["a letter that is missing", "event.oders:read", "event.orders:read"],
  ["a wrong sign", "event.orders.write", "event.orders:write"],
  ["the same name", "event.items:write", "event.items:write"],
  ["another name", "nonsense", undefined],
  ["a longer name of the same letters", "event.orders:read-and-write", undefined],
  ["nothing", "", undefined],
])("finds what was meant by %s", (_name, sent, meant) => {
  expect(closestName(sent, names)).toBe(meant);
});

it.each([
  ["two exchanged letters", "HTTP_PROT", "HTTP_PORT"],
  ["a letter less", "HTTP_POR", "HTTP_PORT"],
  ["two other letters", "HTTP_POXY", undefined],
])("finds what was meant by %s where one edit is the most", (_name, sent, meant) => {
  expect(closestName(sent, ["HTTP_PORT"], { mostEdits: 1 })).toBe(meant);
});
