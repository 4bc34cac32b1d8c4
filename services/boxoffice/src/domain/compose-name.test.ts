import { describe, expect, it } from "vitest";
import { composeName } from "./compose-name.ts";

describe("composeName", () => {
  it.each([
    ["the whole name", { _scheme: "full", full_name: "Ada Lovelace", given_name: "no" }, "Ada Lovelace"],
    ["given and family name", { family_name: "Lovelace", given_name: "Ada" }, "Ada Lovelace"],
    [
      "all parts in the order they are spoken",
      { degree: "MSc", family_name: "King", middle_name: "B.", given_name: "Ada", title: "Dr." },
      "Dr. Ada B. King, MSc",
    ],
    ["no salutation", { salutation: "Ms", family_name: "Lovelace" }, "Lovelace"],
    ["no blanks around empty parts", { given_name: " ", family_name: " Lovelace " }, "Lovelace"],
    ["the calling name where there is no other", { calling_name: "Ada", degree: "MSc" }, "Ada"],
    ["nothing out of keys that are no parts", { _scheme: "full", _legacy: "x" }, ""],
    ["nothing that every object inherits", {}, ""],
    ["the family name alone where there is no other", { _scheme: "family_comma_given", family_name: "Liszt" }, "Liszt"],
    ["what a scheme has beside its own parts", { _scheme: "family_given", title: "Dr." }, "Dr."],
  ])("writes %s", (_name, parts, name) => {
    expect(composeName(parts)).toBe(name);
  });

  it.each([
    ["family_given", "Liszt Ferenc"],
    ["family_nospace_given", "LisztFerenc"],
    ["family_comma_given", "Liszt, Ferenc"],
    ["given_family", "Ferenc Liszt"],
    ["constructor", "Ferenc Liszt"],
  ])("[L13.6] writes parts in the order of %s", (scheme, name) => {
    expect(composeName({ _scheme: scheme, given_name: "Ferenc", family_name: "Liszt" })).toBe(name);
  });
});
