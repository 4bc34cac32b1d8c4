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
