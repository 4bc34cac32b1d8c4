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

const scans = { entries: 2, exits: 1, refusals: 1 };

const reportExample = {
  date: "2027-05-12",
  timezone: "Europe/Berlin",
  list: null,
  subevent: null,
  totals: { scans: 4, ...scans, entered: 2 },
  first_scan: "2027-05-12T06:31:08.219342Z",
  last_scan: "2027-05-12T06:44:02.731150Z",
  inside: { at_begin: 0, at_end: 1, peak: 2, peak_at: "2027-05-12T06:40:12Z" },
  quarters: [{ start: "2027-05-12T06:30:00Z", local: "08:30", ...scans, inside: 1 }],
  products: [{ item: 1, item_name: "Conference ticket", variation: null, variation_name: null, ...scans, entered: 2 }],
  lists: [{ list: 1, list_name: "Main entrance", ...scans }],
  gates: [{ gate: 1, gate_name: "Main entrance", ...scans }],
  devices: [{ device: 1, device_name: "Main entrance 1", ...scans }],
  reasons: [{ reason: "already_redeemed", count: 1 }],
};

export const checkinExamples = {
  list: { status: "ok", query: { page_size: 10 }, answer: examplePage(scan) },
  // The demo begins without scans.
  get: { status: "ok", follows: "redeemListedPosition", answer: scan },
  report: { status: "ok", query: { date: "2027-05-12" }, answer: reportExample },
  export: { status: "ok", query: { successful: true } },
} satisfies Readonly<Record<string, Example>>;

/** Of the scan that the example of `checkinrpc/redeem/` stores. */
export const annulExample = {
  status: "ok",
  follows: "redeemOnLists",
  body: { lists: [1], nonce: "Pvrk50vUzQd0DhdpNRL4I4OcXsvg70uA" },
  answer: { status: "ok" },
} satisfies Example;
