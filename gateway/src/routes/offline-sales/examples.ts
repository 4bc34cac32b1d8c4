import { exampleEvent, examplePage } from "../../http/example-page.ts";
import type { Example } from "../../http/route.ts";

const batches = `${exampleEvent}/offlinesalesbatches`;
const job = "5f0c8a52-6b0e-4c7e-9d55-0e6f5f3a9c11";

const listed = {
  id: 1,
  creation: "2027-01-04T08:00:00Z",
  canceled: null,
  testmode: false,
  sales_channel: "web",
  layout: 1,
  subevent: null,
  item: 1,
  variation: null,
  amount: 40,
  comment: "For the desk at the entrance",
};

const asked = { item: 2, layout: 1, sales_channel: "web", amount: 2, comment: "For the university" };

const batch = { ...listed, orders: ["S7WRK", "AXNWF", "SWYKB"] };

export const offlineSalesExamples = {
  list: { status: "ok", answer: examplePage(listed) },
  get: { status: "ok", answer: batch },
  create: {
    status: "accepted",
    body: asked,
    answer: { check: `${batches}/check/${job}/` },
  },
  check: {
    status: "ok",
    follows: "createOfflineSalesBatch",
    answer: { ...listed, ...asked, id: 2, orders: ["S7WRK", "AXNWF"] },
  },
  render: { status: "accepted", answer: { download: `${batches}/1/download/${job}/${job}/` } },
  download: { status: "ok", follows: "renderOfflineSalesBatch" },
  cancel: { status: "ok", body: { force: false }, answer: { ...batch, canceled: "2027-01-05T09:00:00Z" } },
} satisfies Readonly<Record<string, Example>>;
