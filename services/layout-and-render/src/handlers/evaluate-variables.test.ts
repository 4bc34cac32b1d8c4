import { expect, it } from "vitest";
import { printing } from "../testing/print-ticket.ts";
import { noScans, ticketAnswer } from "../testing/ticket-answer.ts";
import { evaluateVariables } from "./evaluate-variables.ts";

const place = { organizer: "org", event: "fest" };
const call = { signal: new AbortController().signal, deadline: Number.POSITIVE_INFINITY };

it("[L55.4] a hundred tickets of an event with megabytes of texts are answered as far as there is room", async () => {
  const metaData = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`key${index}`, "m".repeat(40_000)]));
  const event = Buffer.from(JSON.stringify({ name: { en: "Festival" }, timezone: "UTC", meta_data: metaData }));
  const tools = {
    ticketData: {
      readTicketData: async (request: Parameters<typeof ticketAnswer>[0]) => ({ ...ticketAnswer(request), event }),
    },
    firstEntries: noScans,
    formats: printing.formats,
    clock: { now: () => printing.now },
  };
  const positions = Array.from({ length: 100 }, (_, index) => index + 1);
  const { tickets } = await evaluateVariables({ ...place, positions }, tools, call);
  expect(tickets.map(({ position }) => position)).toEqual([1, 2, 3]);
  for (const { texts } of tickets) expect(texts["meta:key29"]).toHaveLength(40_000);
});
