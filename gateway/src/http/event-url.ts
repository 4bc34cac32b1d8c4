import type { Incoming } from "./route.ts";

/** The public address of something in the event of a request. */
export function eventUrl({ url, organizer, event }: Incoming, ...path: readonly (string | number)[]): string {
  const segments = ["organizers", organizer, "events", event, ...path];
  return `${url.base}/api/v1/${segments.map(encodeURIComponent).join("/")}/`;
}
