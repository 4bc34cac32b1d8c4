import { expect, it } from "vitest";
import { toSortName } from "./sort-name.ts";

it("sorts names without regard to case, by their first hundred characters", () => {
  expect(toSortName("Ann LEE")).toBe("ann lee");
  expect(toSortName("🎫".repeat(150))).toBe("🎫".repeat(100));
  expect([toSortName(""), toSortName(null), toSortName(undefined)]).toEqual([null, null, null]);
});

it("[C2.16] sorts a name with accents or strokes under the letter without", () => {
  const names = [
    "Zoe",
    "Ärger",
    "Atna",
    "A\u0308tna",
    "Łukasz",
    "Øre",
    "de Vries",
    "Émile",
    "Özil",
    "İpek",
    "ßen",
    "Straße",
  ];
  expect(names.map(toSortName)).toEqual([
    "zoe",
    "arger",
    "atna",
    "atna",
    "lukasz",
    "ore",
    "de vries",
    "emile",
    "ozil",
    "ipek",
    "ssen",
    "strasse",
  ]);
});

it("leaves the marks of other scripts, which are letters there", () => {
  expect(["हिन्दी", "สวัสดี", "가나", "Ёлка"].map(toSortName)).toEqual(["हिन्दी", "สวัสดี", "가나", "елка"]);
});
