import { expect, it } from "vitest";
import { isSetupLink, readSetupLink } from "./read-setup-link.ts";

it.each([
  ["https://tickets.example.com/shop/scan/#setup=kpp4jn8g2ynznnp6", "kpp4jn8g2ynznnp6"],
  [" kpp4jn8g2ynznnp6\n", "kpp4jn8g2ynznnp6"],
  ['{"handshake_version":1,"url":"https://x","token":"kpp4jn8g2ynznnp6"}', "kpp4jn8g2ynznnp6"],
  ['{"handshake_version":1}', undefined],
  ["{", undefined],
  ["https://tickets.example.com/scan/", undefined],
  ["", undefined],
  ["short", undefined],
])("[G2.2] reads the code of %j as %j", (text, code) => {
  expect(readSetupLink(text)).toBe(code);
});

it.each([
  ["https://tickets.example.com/shop/scan/#setup=kpp4jn8g2ynznnp6", true],
  ['{"handshake_version":1,"url":"https://x","token":"kpp4jn8g2ynznnp6"}', true],
  ['{"handshake_version":1}', false],
  ['{"token":"kpp4jn8g2ynznnp6"}', false],
  ["https://tickets.example.com/scan/", false],
  ["kpp4jn8g2ynznnp6", false],
])("[G3.4] %j sets a scanner up: %s", (text, expected) => {
  expect(isSetupLink(text)).toBe(expected);
});
