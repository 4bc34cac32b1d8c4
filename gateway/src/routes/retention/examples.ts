import { exampleEvent, examplePage } from "../../http/example-page.ts";
import type { Example } from "../../http/route.ts";

const set = { days: 365, shredders: ["attendee_info", "order_emails"] };
const shown = { ...set, changed: "2027-01-04T08:00:00Z" };
const id = "5f0c8a52-6b0e-4c7e-9d55-0e6f5f3a9c11";

export const retentionExamples = {
  get: { status: "ok", answer: { days: null, shredders: [], changed: null } },
  put: { status: "ok", body: set, answer: shown },
  remove: { status: "noContent" },
  upcoming: {
    status: "ok",
    answer: examplePage({
      event: "conference",
      due: "2028-05-13T15:00:00Z",
      shredders: set.shredders,
      state: "announced",
      reason: null,
    }),
  },
  erased: {
    status: "ok",
    answer: examplePage({
      event: "conference",
      case: id,
      shredders: set.shredders,
      erased: "2028-05-13T15:00:12Z",
      certificate: `${exampleEvent}/shredders/certificate/${id}/`,
    }),
  },
} satisfies Readonly<Record<string, Example>>;
