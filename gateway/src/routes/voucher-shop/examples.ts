import type { Example } from "../../http/route.ts";

const reservation = "6b0d9a52-6f0e-4a3c-9a4e-1d2f3c4b5a69";

const use = { code: "tenpercent", item: 1 };

const offered = {
  offer: {
    ...{ voucher: 2, price_before: "249.00", price: "224.10", discount: "24.90" },
    ...{ uses_left: 1000, budget_left: "5000.00", remaining_minimum: 1 },
  },
  refusal: null,
};

const unknown = {
  offer: null,
  refusal: { reason: "unknown_code", detail: "This event has no voucher with this code." },
};

export const voucherShopExamples = {
  check: {
    status: "ok",
    body: { asks: [use, { ...use, code: "tenprecent" }] },
    answer: { answers: [offered, unknown] },
  },
  reserve: {
    status: "ok",
    body: { reservation, uses: [use], lifetime: 900 },
    answer: { status: "reserved", expires: "2027-01-04T08:15:00Z", answers: [offered] },
  },
  confirm: { status: "ok", body: { reservation, positions: [90_001] }, answer: { status: "confirmed" } },
  release: { status: "noContent", body: { reservation: "0f5a7c1e-2b3d-4e4f-8a9b-7c6d5e4f3a2b" } },
} satisfies Readonly<Record<string, Example>>;
