import type { Example } from "../../http/route.ts";

export const syncExample = {
  status: 200,
  query: { events: "conference" },
} satisfies Example;

export const packExample = { status: 200 } satisfies Example;
