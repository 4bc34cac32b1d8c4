import { Fault } from "@tessera/kit/fault";
import { RefusalReason, type VoucherAnswer } from "@tessera/protos/gen/ticketing/voucher/v1/shop";
import { describe, expect, it } from "vitest";
import { appOfEachTest, inEvent, keys } from "../../testing/serve-app.ts";
import { refusalReasons } from "./schema.ts";

const vouchers = `${inEvent}/vouchers/`;
const place = { organizer: "bigevents", event: "sampleconf" };
const reservation = "6b0d9a52-6f0e-4a3c-9a4e-1d2f3c4b5a69";
const use = { code: "summer25", item: 1 };

const offered: VoucherAnswer = {
  outcome: {
    $case: "offer",
    value: {
      ...{ voucher: 25, priceBefore: "23.00", price: "17.25", discount: "5.75", usesLeft: 3 },
      ...{ budgetLeft: undefined, remainingMinimum: 1 },
    },
  },
};

const shown = {
  offer: {
    ...{ voucher: 25, price_before: "23.00", price: "17.25", discount: "5.75", uses_left: 3 },
    ...{ budget_left: null, remaining_minimum: 1 },
  },
  refusal: null,
};

const refusedFor = (reason: RefusalReason): VoucherAnswer => ({
  outcome: { $case: "refusal", value: { reason, sentence: "So it is." } },
});

const app = appOfEachTest();

const send = (action: string, body: object, key: string = keys.voucherWriter) =>
  app.send("POST", `${vouchers}${action}/`, { key, body });

describe("POST vouchers/check/", () => {
  const check = (body: object) => send("check", body, keys.voucherReader);

  it("[V15.1, V15.2] asks as the RPC does, and answers in the order of the asks", async () => {
    app.peers.when("voucherShop", "checkVouchers", async () => ({
      answers: [offered, refusedFor(RefusalReason.UNKNOWN_CODE)],
    }));
    const full = { code: " x ", item: "2", variation: 21, subevent: 5, seat: "A-1", price: 12.5 };
    const { status, json } = await check({ asks: [use, full] });
    expect([status, json]).toEqual([
      200,
      { answers: [shown, { offer: null, refusal: { reason: "unknown_code", detail: "So it is." } }] },
    ]);
    expect(app.peers.requestsOf("checkVouchers")).toEqual([
      { ...place, asks: [use, { code: "x", item: 2, variation: 21, subevent: 5, seat: "A-1", price: "12.50" }] },
    ]);
  });

  it("[V15.2] has a word for each reason, that of the RPC in small letters", async () => {
    const reasons = Object.values(RefusalReason).filter(
      (reason) => reason !== RefusalReason.UNSPECIFIED && reason !== RefusalReason.UNRECOGNIZED,
    );
    app.peers.when("voucherShop", "checkVouchers", async () => ({ answers: reasons.map(refusedFor) }));
    const { json } = await check({ asks: reasons.map(() => use) });
    const words = (json as { answers: { refusal: { reason: string } }[] }).answers.map(({ refusal }) => refusal.reason);
    expect(words).toEqual(refusalReasons);
  });

  it("[V15.3] names every wrong field of every ask, and calls nothing", async () => {
    const { status, json } = await check({
      asks: [use, { code: "x".repeat(256), item: 0, variation: "a", price: "-1" }, {}, 7, { ...use, price: "1.005" }],
    });
    expect([status, json]).toEqual([
      400,
      {
        asks: [
          {},
          Object.fromEntries(["code", "item", "variation", "price"].map((name) => [name, [expect.any(String)]])),
          { code: ["This field is required."], item: ["This field is required."] },
          { non_field_errors: [expect.any(String)] },
          { price: [expect.any(String)] },
        ],
      },
    ]);
    for (const asks of [undefined, "x", Array.from({ length: 1001 }, () => use)])
      expect(await check({ asks })).toMatchObject({ status: 400, json: { asks: [expect.any(String)] } });
    expect(app.peers.calls).toEqual([]);
  });

  it("[V15.3] shows what the service finds wrong with an ask under that ask", async () => {
    app.peers.when("voucherShop", "checkVouchers", () =>
      Promise.reject(new Fault("invalid", "invalid_asks", "wrong", { fields: { "1.code": ["Too long."] } })),
    );
    const { status, json } = await check({ asks: [use, use] });
    expect([status, json]).toEqual([400, { asks: [{}, { code: ["Too long."] }] }]);
  });
});

describe("POST vouchers/reserve/", () => {
  const body = { reservation, uses: [use], lifetime: 900 };

  it("[V15.1, V8.6] says until when the cart is held, or that nothing is", async () => {
    app.peers.when("voucherShop", "reserveVouchers", async () => ({
      answers: [offered],
      expiresAt: 1_700_000_000_123_000,
    }));
    const { status, json } = await send("reserve", { ...body, reservation: reservation.toUpperCase(), lifetime: 1.5 });
    expect([status, json]).toEqual([
      200,
      { status: "reserved", expires: "2023-11-14T22:13:20.123000Z", answers: [shown] },
    ]);
    expect(app.peers.requestsOf("reserveVouchers")).toEqual([{ ...place, reservation, uses: [use], lifetimeMs: 1500 }]);
    const refused = refusedFor(RefusalReason.RESERVED);
    app.peers.when("voucherShop", "reserveVouchers", async () => ({ answers: [offered, refused] }));
    expect((await send("reserve", { ...body, uses: [use, use] })).json).toMatchObject({
      status: "refused",
      expires: null,
      answers: [shown, { offer: null, refusal: { reason: "reserved" } }],
    });
  });

  it("[V15.3] names every wrong field at once", async () => {
    const wrong = await send("reserve", { reservation: "cart-1", lifetime: 0.5, uses: [{ ...use, item: null }] });
    expect([wrong.status, wrong.json]).toEqual([
      400,
      { reservation: [expect.any(String)], lifetime: [expect.any(String)], uses: [{ item: [expect.any(String)] }] },
    ]);
    for (const lifetime of [0, 86_401, "soon", null])
      expect((await send("reserve", { ...body, lifetime })).json).toEqual({ lifetime: [expect.any(String)] });
    expect(Object.keys((await send("reserve", {})).json as object).sort()).toEqual(["lifetime", "reservation", "uses"]);
    expect((await send("reserve", { ...body, uses: [] })).json).toEqual({ uses: [expect.any(String)] });
    expect(app.peers.calls).toEqual([]);
  });
});

describe("POST vouchers/confirm/ and release/", () => {
  it("[V15.1] name the reservation, and its positions in the order of the uses", async () => {
    app.peers.when("voucherShop", "confirmReservation", async () => ({}));
    app.peers.when("voucherShop", "releaseReservation", async () => ({}));
    const confirmed = await send("confirm", { reservation, positions: [502, "501"] });
    expect([confirmed.status, confirmed.json]).toEqual([200, { status: "confirmed" }]);
    const released = await send("release", { reservation });
    expect([released.status, released.text]).toEqual([204, ""]);
    expect(app.peers.calls.map(({ request }) => request)).toEqual([
      { ...place, reservation, positions: [502, 501] },
      { ...place, reservation },
    ]);
  });

  it("[V15.3] name every wrong field", async () => {
    const confirm = await send("confirm", { reservation: 7, positions: [] });
    expect([confirm.status, Object.keys(confirm.json as object).sort()]).toEqual([400, ["positions", "reservation"]]);
    expect([(await send("release", {})).status, (await send("confirm", {})).status]).toEqual([400, 400]);
    const twice = { positions: ["Each use has a position of its own."] };
    app.peers.when("voucherShop", "confirmReservation", () =>
      Promise.reject(new Fault("invalid", "invalid_positions", "wrong", { fields: twice })),
    );
    expect((await send("confirm", { reservation, positions: [1, 1] })).json).toEqual(twice);
  });

  it.each([
    ["reservation_expired", "unmet", 409],
    ["reservation_differs", "unmet", 409],
    ["reservation_released", "unmet", 409],
    ["reservation_not_found", "not_found", 404],
  ] as const)("[V15.4] answer %s with %s: %i and a sentence", async (code, kind, expected) => {
    app.peers.when("voucherShop", "confirmReservation", () => Promise.reject(new Fault(kind, code, "So it is.")));
    const { status, json } = await send("confirm", { reservation, positions: [1] });
    expect([status, json]).toEqual([expected, { detail: "So it is." }]);
  });
});
