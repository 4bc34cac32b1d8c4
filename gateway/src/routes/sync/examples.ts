import type { Example } from "../../http/route.ts";

export const syncExample = {
  status: "ok",
  query: { events: "conference" },
} satisfies Example;

export const packExample = { status: "ok" } satisfies Example;
