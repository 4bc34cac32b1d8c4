import { expect, it } from "vitest";
import { nameAttendee } from "./attendee.ts";

const person = (name: string | undefined) => ({ name, parts: { full_name: `parts of ${name}` } });

it.each([
  ["its own name", person("Ann"), person("Bob"), person("Cy"), person("Ann")],
  ["its parent's, where it has none", person(""), person("Bob"), person("Cy"), person("Bob")],
  ["the invoice's, where neither has one", person(undefined), person(""), person("Cy"), person("Cy")],
  ["an invoice without a name", person(undefined), undefined, person(""), person("")],
  ["nobody's", person(undefined), undefined, undefined, person(undefined)],
])("shows %s", (_name, own, parent, invoice, expected) => {
  expect(nameAttendee({ own, parent, invoice })).toEqual(expected);
});

it.each([
  ["divided", { _scheme: "given_family", given_name: "Ada", family_name: "Quill" }, "Ada Quill"],
  ["whole, and blank", { full_name: "" }, "Ada Quill"],
  ["whole, and another", { full_name: "Ada M. Quill" }, "Ada M. Quill"],
])("[C2.20] has the whole name among its parts, where that was sent %s", (_name, parts, whole) => {
  const named = { name: "Ada Quill", parts };
  const expected = { name: "Ada Quill", parts: { ...parts, full_name: whole } };
  expect(nameAttendee({ own: named, parent: undefined, invoice: undefined })).toEqual(expected);
  expect(nameAttendee({ own: person(""), parent: named, invoice: undefined })).toEqual(expected);
  expect(nameAttendee({ own: person(""), parent: undefined, invoice: named })).toEqual(expected);
});
