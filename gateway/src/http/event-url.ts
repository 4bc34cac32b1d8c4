import type { Incoming } from "./route.ts";

/** The public address of something in an event, for instance in that of a request. */
export function eventUrl(
  { url, organizer, event }: Pick<Incoming, "url" | "organizer" | "event">,
  ...path: readonly (string | number)[]
): string {
  const segments = ["organizers", organizer, "events", event, ...path];
  return `${url.base}/api/v1/${segments.map(encodeURIComponent).join("/")}/`;
}
