import { examplePage } from "../../http/example-page.ts";
import type { Example } from "../../http/route.ts";

const scan = {
  id: 2,
  datetime: "2027-05-12T06:44:02.731150Z",
  created: "2027-05-12T07:20:11.004218Z",
  gate: 2,
  device: 2,
  device_id: 2,
  auto_checked_in: false,
};

const double = {
  id: 2,
  list: 1,
  position: 2,
  order: "WEVEDD",
  positionid: 1,
  reasons: ["already_redeemed"],
  created: scan.created,
  seconds_apart: 774,
  earlier: {
    ...scan,
    id: 1,
    datetime: "2027-05-12T06:31:08.219342Z",
    created: "2027-05-12T06:31:08.402981Z",
    gate: 1,
    device: 1,
    device_id: 1,
  },
  scan,
  explained: null,
  explained_by: null,
  explained_at: null,
};

const explained = {
  ...double,
  explained: "The visitor had a copy on paper.",
  explained_by: "Back office",
  explained_at: "2027-05-13T08:02:57.310007Z",
};

const one = { count: 1, explained: 0 };

/** The demo begins without scans. */
export const doubleExamples = {
  list: { status: "ok", query: { page_size: 10 }, answer: examplePage(double) },
  counts: {
    status: "ok",
    answer: {
      ...one,
      devices: [
        { device: 1, ...one },
        { device: 2, ...one },
      ],
      gates: [
        { gate: 1, ...one },
        { gate: 2, ...one },
      ],
    },
  },
  get: { status: "ok", follows: "listDoubles", path: { id: double.id }, answer: double },
  explain: {
    status: "ok",
    follows: "listDoubles",
    path: { id: double.id },
    body: { explained: explained.explained },
    answer: explained,
  },
} satisfies Readonly<Record<string, Example>>;
