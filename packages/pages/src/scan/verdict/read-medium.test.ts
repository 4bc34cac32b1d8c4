import { expect, it } from "vitest";
import { readMedium } from "./read-medium.ts";

it.each([
  ["04C0FFEE\r\n", { medium: { type: "nfc_uid", identifier: "04C0FFEE" } }],
  ["]C1band-7", { medium: { type: "nfc_uid", identifier: "band-7" } }],
  [" ", { problem: "empty" }],
  ["a\u0000", { problem: "unreadable" }],
  ["x".repeat(200), { medium: { type: "nfc_uid", identifier: "x".repeat(200) } }],
  ["x".repeat(201), { problem: "unreadable" }],
  ["secret", { problem: "ticket" }],
])("[G3.15] reads %j after a ticket as %j", (brought, expected) => {
  expect(readMedium(brought, { policy: "new", type: "nfc_uid" }, "secret")).toEqual(expected);
});
