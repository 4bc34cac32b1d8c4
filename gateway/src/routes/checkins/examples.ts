import { examplePage } from "../../http/example-page.ts";
import type { Example } from "../../http/route.ts";
import { scanExample } from "../listed-positions/examples.ts";

const scan = {
  ...scanExample,
  successful: true,
  error_reason: null,
  error_explanation: null,
  position: 2,
  created: "2027-05-12T06:31:08.219342Z",
};

export const checkinExamples = {
  list: { status: 200, query: { page_size: 10 }, answer: examplePage(scan) },
  // The demo begins without scans.
  get: { status: 200, follows: "redeemListedPosition", answer: scan },
  export: { status: 200, query: { successful: true } },
} satisfies Readonly<Record<string, Example>>;

/** Of the scan that the example of `checkinrpc/redeem/` stores. */
export const annulExample = {
  status: 200,
  follows: "redeemOnLists",
  body: { lists: [1], nonce: "Pvrk50vUzQd0DhdpNRL4I4OcXsvg70uA" },
  answer: { status: "ok" },
} satisfies Example;
