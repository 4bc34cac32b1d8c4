import type { Incoming } from "./route.ts";

/** The public address of a resource of an event. */
export function eventUrl(
  { url, organizer, event }: Pick<Incoming, "url" | "organizer" | "event">,
  ...path: readonly (string | number)[]
): string {
  const segments = ["organizers", organizer, "events", event, ...path];
  return `${url.base}/api/v1/${segments.map(encodeURIComponent).join("/")}/`;
}
