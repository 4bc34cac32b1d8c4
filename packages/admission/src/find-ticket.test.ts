import { describe, expect, it } from "vitest";
import type { AdmissionTerms } from "./list.ts";
import { decide, hour, inWord, match, noon } from "./testing/decisions.ts";
import type { Match } from "./ticket.ts";

describe("several tickets", () => {
  const base = match({ id: 5, item: 10 });
  const addon = match({ id: 4, item: 11, addonTo: 5 });
  const onlyAddon = { allProducts: false, limitProducts: [11] };
  const chosen = (matches: readonly Match[], on: Partial<AdmissionTerms> = {}) => {
    const verdict = decide(matches, { on });
    return verdict.outcome === "unknown_ticket" ? undefined : [verdict.outcome, verdict.match.ticket.id];
  };

  it("[C3.5, C3.12] the one whose product is on the list is meant", () => {
    expect(chosen([base, addon], onlyAddon)).toEqual(["admitted", 4]);
  });

  it("[C3.14] several on the list are ambiguous, and the base ticket represents them", () => {
    expect(chosen([addon, base])).toEqual(["refused", 5]);
    expect(inWord([addon, base])).toBe("ambiguous");
  });

  it("none on the list: the base ticket is refused for its product", () => {
    expect(chosen([addon, base], { allProducts: false })).toEqual(["refused", 5]);
    expect(inWord([addon, base], { on: { allProducts: false } })).toBe("product");
  });

  it("[C3.12] the only one that is valid now is meant", () => {
    const morning = match({ id: 1, validUntil: noon });
    const afternoon = match({ id: 2, validFrom: noon });
    expect(chosen([morning, afternoon])).toEqual(["admitted", 2]);
  });

  it("[C3.13] none valid: the one that becomes valid next", () => {
    const late = match({ id: 1, validFrom: noon + 2 * hour });
    const next = match({ id: 2, validFrom: noon + hour });
    const over = match({ id: 3, validUntil: noon - 1 });
    expect(chosen([late, next, over])).toEqual(["refused", 2]);
  });

  it("[C3.13] none valid and none to come: the one that expired last", () => {
    const longOver = match({ id: 1, validUntil: noon - 2 * hour });
    const over = match({ id: 2, validUntil: noon - hour });
    expect(chosen([longOver, over])).toEqual(["refused", 2]);
  });

  it("[C3.6] canceled ones are not among them", () => {
    expect(chosen([match({ id: 1, canceled: true }), match({ id: 2 })])).toEqual(["admitted", 2]);
  });
});

describe("[C3.4] plus signs that were blanks", () => {
  const asScanned = match({ id: 1 });
  const withBlanks = match({ id: 2 }, { foundBy: "code_with_blanks" });

  it("are tried when nothing has the code as it was scanned", () => {
    expect(decide([withBlanks])).toMatchObject({ outcome: "admitted", match: { ticket: { id: 2 } } });
  });

  it("are not tried otherwise", () => {
    expect(decide([withBlanks, asScanned])).toMatchObject({ outcome: "admitted", match: { ticket: { id: 1 } } });
  });

  it("are tried when what has the code is canceled", () => {
    const canceled = match({ id: 1, canceled: true });
    expect(decide([canceled, withBlanks])).toMatchObject({ outcome: "admitted", match: { ticket: { id: 2 } } });
  });
});

describe("media", () => {
  const medium = { foundBy: "medium" } as const;
  const onlyTen = { allProducts: false, limitProducts: [10] };

  it("[C3.7] lead to their ticket", () => {
    expect(inWord([match({}, medium)])).toBe("admitted");
  });

  it("[C3.7] count only where no ticket has the code", () => {
    expect(decide([match({ id: 1 }, medium), match({ id: 2 })])).toMatchObject({ match: { ticket: { id: 2 } } });
  });

  it("[C3.8] of other events are unknown, with an explanation", () => {
    expect(decide([], { isMediumElsewhere: true })).toMatchObject({
      outcome: "unknown_ticket",
      explanation: expect.stringContaining("another event"),
    });
  });

  it("[C3.9] with two tickets find the one on the list", () => {
    const both = [match({ id: 1, item: 10 }, medium), match({ id: 2, item: 11 }, medium)];
    expect(decide(both, { on: onlyTen })).toMatchObject({ outcome: "admitted", match: { ticket: { id: 1 } } });
    expect(inWord(both)).toBe("ambiguous");
  });

  it("[C3.24] lead to tickets of other dates, which are not on the list", () => {
    expect(inWord([match({ subevent: 2 }, medium)], { on: { subevent: 1 } })).toBe("product");
  });

  it("[C3.20] lead to canceled tickets", () => {
    expect(inWord([match({ canceled: true }, medium)])).toBe("canceled");
    const both = [match({ id: 1, canceled: true }, medium), match({ id: 2, canceled: true }, medium)];
    expect(inWord(both, { on: { allProducts: false } })).toBe("canceled");
  });

  it("[C3.9] lead to canceled tickets only where no other is linked", () => {
    const rebooked = [match({ id: 1, canceled: true }, medium), match({ id: 2 }, medium)];
    expect(decide(rebooked)).toMatchObject({ outcome: "admitted", match: { ticket: { id: 2 } } });
    const exchanged = [
      match({ id: 1, item: 11 }, medium),
      match({ id: 2, addonTo: 1, canceled: true }, medium),
      match({ id: 3, addonTo: 1 }, medium),
    ];
    for (const type of ["entry", "exit"] as const)
      expect(decide(exchanged, { on: onlyTen, how: { type } })).toMatchObject({ match: { ticket: { id: 3 } } });
  });
});

describe("codes that were revoked", () => {
  const revoked = { foundBy: "revoked" } as const;

  it("[C3.10] are refused, and forced scans go on with their ticket", () => {
    expect(inWord([match({}, revoked)])).toBe("revoked");
    expect(decide([match({}, revoked)], { how: { force: true } })).toMatchObject({
      outcome: "admitted",
      overruled: "revoked",
    });
  });

  it("[C3.10] lead to a canceled add-on only where no other is there", () => {
    const exchanged = [
      match({ id: 1, item: 11 }, revoked),
      match({ id: 2, addonTo: 1, canceled: true }, revoked),
      match({ id: 3, addonTo: 1 }, revoked),
    ];
    const on = { allProducts: false, limitProducts: [10] };
    expect(decide(exchanged, { on, how: { force: true } })).toMatchObject({
      match: { ticket: { id: 3 } },
      overruled: "revoked",
    });
  });

  it("[C3.10] are refused for exits, too", () => {
    expect(inWord([match({}, revoked)], { how: { type: "exit" } })).toBe("revoked");
  });

  it("[C3.11] have no ticket if it is deleted, and force does not help", () => {
    const gone = { outcome: "unknown_ticket", isRevoked: true };
    expect(decide([], { isRevoked: true })).toMatchObject(gone);
    expect(decide([], { isRevoked: true, how: { force: true } })).toMatchObject(gone);
  });
});
