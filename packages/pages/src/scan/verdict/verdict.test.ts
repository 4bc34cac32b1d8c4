import { describe, expect, it } from "vitest";
import { allowancesOf } from "../set-up/profile.ts";
import { offersOf, readVerdict, type Verdict } from "./verdict.ts";

const position = {
  id: 7,
  order: "ABC12",
  item: { name: { en: "Ticket" } },
  variation: { value: { en: "XL" } },
  attendee_name: "Peter",
  seat: { name: "Row 3, seat 4" },
  secret: "z3fsn8jy",
  order__status: "p",
  checkins: [{ datetime: "2027-05-12T06:31:08Z", type: "entry", gate: 1, device_id: 3 }],
};

describe("an answer", () => {
  it("is read with all that a crew sees", () => {
    const body = { status: "error", reason: "rules", reason_explanation: "Later", require_attention: true };
    const around = { checkin_texts: ["Front row"], list: { include_pending: true }, position };
    expect(readVerdict({ ...body, ...around })).toEqual({
      ...{ kind: "refused", reason: "rules", explanation: "Later", attention: true, texts: ["Front row"] },
      ...{ questions: [], includesPending: true },
      ticket: {
        ...{ id: 7, order: "ABC12", product: { en: "Ticket" }, variation: { en: "XL" }, name: "Peter" },
        ...{ seat: "Row 3, seat 4", secret: "z3fsn8jy", status: "p", checkins: position.checkins },
      },
    });
  });

  it.each([undefined, null, "", {}, { detail: "Not found." }, { status: "new" }, []])(
    "that is none (%j) decides nothing",
    (body) => {
      expect(readVerdict(body)).toBeUndefined();
    },
  );

  it.each([
    ["ok", "admitted"],
    ["error", "refused"],
    ["incomplete", "questions"],
    ["exchange", "exchange"],
  ])("with the status %s is %s, also where fields are missing", (status, kind) => {
    expect(readVerdict({ status })).toMatchObject({ kind, ticket: undefined });
  });
});

it("[G3.15] of an exchange says what is asked for", () => {
  const body = { status: "exchange", media_policy: "new", media_type: "nfc_uid" };
  expect(readVerdict(body)?.exchange).toEqual({ policy: "new", type: "nfc_uid" });
  expect(readVerdict({ ...body, media_type: null })).toMatchObject({ kind: "exchange", exchange: undefined });
  expect(readVerdict({ ...body, status: "ok" })?.exchange).toBeUndefined();
});

describe("[G3.7] what a crew may do about a refusal", () => {
  const refused = (reason: string, { includesPending }: { readonly includesPending: boolean }) =>
    ({ kind: "refused", reason, includesPending }) as Verdict;

  it.each([
    ["full", "already_redeemed", false, { unpaid: false, override: true }],
    ["full", "unpaid", true, { unpaid: true, override: false }],
    ["full", "unpaid", false, { unpaid: false, override: true }],
    ["full", "invalid", false, { unpaid: false, override: false }],
    ["full", "ambiguous", false, { unpaid: false, override: false }],
    ["pretixscan", "already_redeemed", false, { unpaid: false, override: false }],
    ["pretixscan", "unpaid", true, { unpaid: true, override: false }],
    ["pretixscan_online_kiosk", "unpaid", true, { unpaid: false, override: false }],
    ["of-the-future", "rules", false, { unpaid: false, override: false }],
  ])("as %s about %s, where the list includes pending orders: %s", (profile, reason, includesPending, offers) => {
    expect(offersOf(refused(reason, { includesPending }), allowancesOf(profile))).toEqual(offers);
  });

  it("a device in public has no menu and no search", () => {
    expect(allowancesOf("pretixscan_online_kiosk")).toEqual({
      ...{ menu: false, search: false, unpaid: false, supervise: false },
    });
  });
});
