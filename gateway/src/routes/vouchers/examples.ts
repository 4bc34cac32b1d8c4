import { firstIdMadeHere } from "@tessera/values";
import { examplePage } from "../../http/example-page.ts";
import type { Example } from "../../http/route.ts";

const press = {
  id: 1,
  created: "2027-01-04T08:00:00Z",
  code: "PRESS-2027",
  max_usages: 50,
  redeemed: 0,
  min_usages: 1,
  valid_until: null,
  block_quota: false,
  allow_ignore_quota: false,
  price_mode: "set",
  value: "0.00",
  item: 1,
  variation: null,
  quota: null,
  seat: null,
  tag: "press",
  comment: "",
  subevent: null,
  show_hidden_items: true,
  all_addons_included: false,
  all_bundles_included: false,
  budget: null,
  budget_used: "0.00",
};

/** Its code is generated, so it can be sent again. */
const partner = { max_usages: 5, price_mode: "percent", value: "15.00", tag: "partners" };
const created = { ...press, ...partner, id: firstIdMadeHere, code: "N7GKQ2VX4DTR9HWP", item: null };

export const voucherExamples = {
  list: { status: "ok", query: { tag: "press" }, answer: examplePage(press) },
  get: { status: "ok", answer: press },
  create: { status: "created", body: partner, answer: created },
  createBatch: {
    status: "created",
    body: [partner, { ...partner, tag: "sponsors" }],
    answer: [created, { ...created, id: firstIdMadeHere + 1, code: "3PFYC8MZ6QLJ5ESA", tag: "sponsors" }],
  },
  patch: { status: "ok", body: { tag: "press" }, answer: press },
  put: {
    status: "ok",
    body: { max_usages: 50, price_mode: "set", value: "0.00", item: 1, tag: "press" },
    answer: press,
  },
  remove: { status: "noContent", path: { id: 3 } },
} satisfies Readonly<Record<string, Example>>;
