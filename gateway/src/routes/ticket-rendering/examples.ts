import { exampleEvent } from "../../http/example-page.ts";
import type { Example } from "../../http/route.ts";

const job = "5f0c8a52-6b0e-4c7e-9d55-0e6f5f3a9c11";

export const ticketRenderingExamples = {
  startBatch: {
    status: "accepted",
    body: { parts: [{ orderposition: 1 }, { orderposition: 2 }] },
    answer: {
      download: `${exampleEvent}/ticketpdfrenderer/download/${job}/${job}/`,
    },
  },
  download: { status: "ok", follows: "renderTickets" },
  ticket: { status: "ok" },
} satisfies Readonly<Record<string, Example>>;
