import { describe, expect, it } from "vitest";
import { type MediumAnswer, readMediaTerms } from "./media-terms.ts";
import { decide, entered, hour, inWord, match, noon, type Otherwise } from "./testing/decisions.ts";
import type { Match } from "./ticket.ts";

const terms = { policy: "new", type: "nfc_uid" } as const;
const brought = { type: "nfc_uid", identifier: "04AB" };
const ticket = (more: Partial<Match> = {}) => match({}, { mediaTerms: terms, ...more });
const linked = (identifier = "04CD", expires: number | null = null) => ticket({ media: [{ identifier, expires }] });
const enforced = { isMediumEnforced: true };
const bringing = (medium: object = brought): Otherwise => ({ how: { medium: { ...brought, ...medium } } });
const answered = (result: MediumAnswer["result"], about: object = {}) =>
  bringing({ answer: { event: "sampleconf", ticket: 1, result, ...about } });

describe("a ticket that is exchanged for a medium", () => {
  it("[E8.1] asks for one, in the language of the event", () => {
    const verdict = decide([ticket()], { locale: "de" });
    expect(verdict).toMatchObject({ outcome: "exchange", terms, medium: null });
    expect("explanation" in verdict && verdict.explanation).toContain("Armband");
  });

  it.each<[string, Match, Otherwise, string]>([
    ["whose item has no policy", match(), {}, "admitted"],
    ["found by its medium", ticket({ foundBy: "medium" }), {}, "admitted"],
    ["that a device let in offline", ticket(), { how: { force: true } }, "admitted"],
    ["on its way out", ticket(), { how: { type: "exit" } }, "admitted"],
    ["that this scan admitted before", ticket({ hasNonce: true }), enforced, "repeated"],
    ["that is used up", ticket({ presence: entered }), {}, "exchange"],
    ["that is not on the list", ticket(), { on: { allProducts: false } }, "product"],
    ["that is blocked", match({ blocked: true }, { mediaTerms: terms }), {}, "blocked"],
  ])("[E8.1, E8.2] %s", (_what, one, otherwise, word) => {
    expect(inWord([one], otherwise)).toBe(word);
  });

  it.each<[string, Match, Otherwise, string]>([
    ["has one, which is enforced", linked(), enforced, "already_exchanged"],
    ["has one, which is not enforced", linked(), {}, "admitted"],
    ["has one that has expired", linked("04CD", noon), enforced, "exchange"],
    ["has one that expires later", linked("04CD", noon + hour), enforced, "already_exchanged"],
    ["has the one that is brought", linked("04AB"), { ...bringing(), ...enforced }, "admitted"],
    ["has another than is brought", linked(), { ...bringing(), ...enforced }, "already_exchanged"],
    ["got another meanwhile", ticket(), { ...answered("other"), ...enforced }, "already_exchanged"],
    ["got another meanwhile, which is not enforced", ticket(), answered("other"), "admitted"],
  ])("[E8.3] %s", (_what, one, otherwise, word) => {
    expect(inWord([one], otherwise)).toBe(word);
  });

  it.each<[string, Otherwise, string]>([
    ["of another type", bringing({ type: "barcode" }), "medium_invalid"],
    ["that boxoffice did not find", answered("invalid"), "medium_invalid"],
    ["that exists", answered("exists"), "medium_exists"],
    ["that boxoffice linked", answered("linked"), "admitted"],
    ["that boxoffice linked to another ticket", answered("linked", { ticket: 2 }), "exchange"],
    ["that boxoffice linked to a ticket of another event", answered("linked", { event: "other" }), "exchange"],
  ])("[E8.4] with a medium %s", (_what, otherwise, word) => {
    expect(inWord([ticket()], otherwise)).toBe(word);
  });

  it("[E8.5] waits for boxoffice with a medium, unless it is used up", () => {
    expect(decide([ticket()], bringing())).toMatchObject({ outcome: "exchange", terms, medium: brought });
    expect(inWord([ticket({ presence: entered })], bringing())).toBe("already_redeemed");
  });

  it.each([
    [null, null],
    ["new", null],
    [null, "barcode"],
    ["append", "barcode"],
    ["new", "papyrus"],
  ])("[E8.2] is none with the policy %s and the type %s", (policy, type) => {
    expect(readMediaTerms(policy, type)).toBeNull();
  });
});
