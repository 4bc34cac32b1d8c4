import { expect, it } from "vitest";
import { withoutUnread } from "./read.ts";

it.each([
  ['{"id":1,"name":{"en":"Ticket"}}', '{"id":1,"name":{"en":"Ticket"}}'],
  ['{"id":1,"unread":["default_price"],"name":"a"}', '{"id":1,"name":"a"}'],
  ['{"id":1,"name":"\\"unread\\":"}', '{"id":1,"name":"\\"unread\\":"}'],
])("[O6.7] %s is shown as %s", (document, shown) => {
  expect(withoutUnread(document)).toBe(shown);
});
