import type { Example } from "../../http/route.ts";
import { elementsExample } from "../ticket-layouts/examples.ts";

export const layoutDraftExamples = {
  preview: { status: "ok", body: { elements: elementsExample, format: "pdf" } },
  lint: {
    status: "ok",
    body: { elements: elementsExample },
    answer: {
      tickets: 1000,
      findings: [{ element: 1, code: "text_too_long", message: "The longest name has no room." }],
    },
  },
} satisfies Readonly<Record<string, Example>>;
