import { expect, it } from "vitest";
import { setupCodeOf, setupText } from "./setup-code.ts";

it("[E3.11] codes have sixteen characters, none of which looks like another, and follow from their token alone", () => {
  const codes = Array.from({ length: 1000 }, (_, token) => setupCodeOf(`${token}`));
  expect(new Set(codes).size).toBe(1000);
  for (const code of codes) expect(code).toMatch(/^[a-hj-km-np-z2-9]{16}$/);
  expect(setupCodeOf("7")).toBe(codes[7]);
});

it("[E3.11] the text of a QR code is what scanners read", () => {
  const text = setupText({ url: "https://tickets.example.org", code: "kpp4jn8g2ynznnp6" });
  expect(JSON.parse(text)).toEqual({
    handshake_version: 1,
    url: "https://tickets.example.org",
    token: "kpp4jn8g2ynznnp6",
  });
});
