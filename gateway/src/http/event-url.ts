import type { Incoming } from "./route.ts";

export type EventAddress = Pick<Incoming, "url" | "organizer" | "event">;

export function eventUrl({ url, organizer, event }: EventAddress, ...path: readonly (string | number)[]): string {
  const segments = ["organizers", organizer, "events", event, ...path];
  return `${url.base}/api/v1/${segments.map(encodeURIComponent).join("/")}/`;
}
