import { describe, expect, it } from "vitest";
import { invoiceAddress, position, ticket } from "../../testing/print-ticket.ts";
import { textOf, textsOf } from "../../testing/printed-texts.ts";
import type { Attendee } from "../ticket.ts";

describe("attendees", () => {
  const ann: Attendee = {
    name: "Ann Lee",
    nameParts: { full_name: "Ann Lee" },
    email: "ann@example.org",
    company: "Harbour Ltd",
    street: "Quay 1",
    zipcode: "20457",
    city: "Hamburg",
    state: "HH",
    country: "DE",
  };
  const printedFields = {
    attendee_name: "Ann Lee",
    attendee_company: "Harbour Ltd",
    attendee_street: "Quay 1",
    attendee_zipcode: "20457",
    attendee_city: "Hamburg",
    attendee_state: "HH",
    attendee_country: "Germany",
    attendee_email: "ann@example.org",
    attendee_name_full_name: "Ann Lee",
    attendee_name_for_salutation: "Ann Lee",
  };

  it("[L13.1] are those of the ticket, else of what it was added to", () => {
    expect(textsOf(ticket({ position: position({ attendee: ann }) }))).toMatchObject(printedFields);
    expect(textsOf(ticket({ parent: position({ attendee: ann }) }))).toMatchObject(printedFields);
    const own = { ...ann, name: "Bea", nameParts: { full_name: "Bea" }, country: "FR" };
    const printed = ticket({ position: position({ attendee: own }), parent: position({ attendee: ann }) });
    expect(textsOf(printed)).toMatchObject({
      attendee_name: "Bea",
      attendee_name_full_name: "Bea",
      attendee_country: "France",
      attendee_city: "Hamburg",
    });
    expect(textsOf(ticket())).toMatchObject(Object.fromEntries(Object.keys(printedFields).map((name) => [name, ""])));
  });

  it("[L13.2] have an address in lines, without empty ones and of the ticket alone", () => {
    const address = (changes: Partial<Attendee>) =>
      textOf("attendee_address", ticket({ position: position({ attendee: { ...ann, ...changes } }) }));
    expect(address({})).toBe("Ann Lee\nHarbour Ltd\nQuay 1\n20457 Hamburg HH\nGermany");
    expect(address({ company: "", zipcode: "", state: "", country: "" })).toBe("Ann Lee\nQuay 1\nHamburg");
    expect(textOf("attendee_address", ticket({ parent: position({ attendee: ann }) }))).toBe("");
  });

  const named = (nameScheme: string, nameParts: Record<string, string>, locale = "en") =>
    ticket({ settings: { nameScheme }, order: { locale }, position: position({ attendee: { ...ann, nameParts } }) });
  const parts = { salutation: "Ms", title: "Dr.", given_name: "Ann", family_name: "Lee", degree: "MSc" };

  it("[L13.4] are addressed by the scheme of their name, else by that of the event, else by their full name", () => {
    const greeted = (scheme: string, of: Record<string, string>) =>
      textOf("attendee_name_for_salutation", named(scheme, of));
    const lee = { given_name: "Ann", family_name: "Lee" };
    expect(greeted("full", { _scheme: "given_family", ...lee })).toBe("Ann Lee");
    expect(greeted("full", { _scheme: "salutation_given_family", salutation: "Ms", ...lee })).toBe("Ms Lee");
    expect(greeted("given_family", lee)).toBe("Ann Lee");
    expect(greeted("given_family", { full_name: "Ann Lee" })).toBe("Ann Lee");
    expect(greeted("full", { _scheme: "of a later version", full_name: "Ann Lee" })).toBe("Ann Lee");
  });

  it("[L13.3] have the parts of the event's name scheme, and choices of them in its order", () => {
    const scheme = "salutation_title_given_family_degree";
    expect(textsOf(named(scheme, parts))).toMatchObject({
      attendee_name_salutation: "Ms",
      attendee_name_degree: "MSc",
      attendee_name_given_name: "Ann",
      attendee_name_given_name_family_name: "Ann Lee",
      attendee_name_salutation_family_name: "Ms Lee",
      attendee_name_salutation_title_given_name_family_name_degree: "Ms Dr. Ann Lee MSc",
      attendee_name_for_salutation: "Ms Dr. Lee",
    });
    expect(textsOf(named(scheme, { ...parts, salutation: "Mx", title: "" }))).toMatchObject({
      attendee_name_salutation: "Mx",
      attendee_name_salutation_title_family_name: "Lee",
      attendee_name_for_salutation: "Ann Lee",
    });
    expect(textsOf(named(scheme, parts, "de"))).toMatchObject({ attendee_name_salutation: "Frau" });
  });

  it.each([
    "attendee_name_family_name_given_name",
    "attendee_name_full_name",
    "attendee_name_",
    "invoice_name_title_degree",
  ])("[L13.3] have no %s in a scheme without it", (name) => {
    const printed = named("salutation_title_given_family_degree", { ...parts, full_name: "Ann Lee" });
    expect(textOf(name, printed)).toBe("");
  });

  it.each([
    ["given_family", "Ann Lee"],
    ["title_given_family", "Dr. Ann Lee"],
    ["given_middle_family", "Ann Mae Lee"],
    ["title_given_middle_family", "Dr. Ann Mae Lee"],
    ["family_given", "Lee Ann"],
    ["family_nospace_given", "LeeAnn"],
    ["family_comma_given", "Lee, Ann"],
    ["full", "Ann M. Lee"],
    ["calling_full", "Ann M. Lee"],
    ["full_transcription", "Ann M. Lee"],
    ["salutation_given_family", "Ms Dr. Lee"],
    ["salutation_title_given_family", "Ms Dr. Lee"],
    ["of another version", "Ann M. Lee"],
  ])("[L13.4] are addressed by the scheme %s as %s", (scheme, expected) => {
    const all = { ...parts, middle_name: "Mae", full_name: "Ann M. Lee", calling_name: "Annie" };
    expect(textOf("attendee_name_for_salutation", named(scheme, all))).toBe(expected);
  });

  it("[L13.5] are not those of the invoice, which has fields of its own", () => {
    const address = { ...invoiceAddress, ...ann, customField: "Cost centre 7" };
    const printed = ticket({ order: { invoiceAddress: address } });
    expect(textsOf(printed)).toMatchObject({
      invoice_name: "Ann Lee",
      invoice_company: "Harbour Ltd",
      invoice_street: "Quay 1",
      invoice_zipcode: "20457",
      invoice_city: "Hamburg",
      invoice_state: "HH",
      invoice_country: "Germany",
      invoice_name_full_name: "Ann Lee",
      invoice_name_for_salutation: "Ann Lee",
      invoice_custom_field: "Cost centre 7",
      attendee_name: "",
    });
    expect(textsOf(ticket())).toMatchObject({
      invoice_name: "",
      invoice_country: "",
      invoice_name_full_name: "",
      invoice_custom_field: "",
    });
    const split = ticket({
      settings: { nameScheme: "given_family" },
      order: { invoiceAddress: { ...address, nameParts: parts } },
    });
    expect(textOf("invoice_name_given_name", split)).toBe("Ann");
    expect(textOf("invoice_name_given_name_family_name", split)).toBe("");
  });
});
