import type { Route } from "../../http/route.ts";

/** The name and the description of each group of routes. */
const tags: Readonly<Record<string, readonly [title: string, description: string]>> = {
  checkinlists: ["Check-in lists", "Who may enter where: lists, their tickets and counts, and scans on them."],
  checkins: ["Scans", "The history of an event: every scan, refused or not."],
  vouchers: ["Vouchers", "Codes that customers redeem: for a price, a product, or capacity that is kept free."],
  ticketlayouts: [
    "Ticket layouts",
    "What tickets look like. Drafts can be printed and examined before they are stored.",
  ],
  ticketlayoutitems: ["Assignments of layouts", "Which product and sales channel has which layout."],
  orderpositions: ["Files of tickets", "A ticket as PDF, and the files that answer its questions."],
  ticketpdfrenderer: ["Printing", "Many tickets in one PDF, made by a job."],
  offlinesalesbatches: [
    "Offline sales",
    "Batches of paid tickets that are sold elsewhere, printed or canceled together.",
  ],
  shredders: ["Erasure", "Personal data of an event that is over: exported, erased everywhere, and certified."],
  retention: ["Retention", "How long an organizer keeps personal data before it is erased by itself."],
  deployment: ["Deployment", "Records, keys, devices and uploads: what belongs to no single event."],
};

/** The part of the path that says what a route is about. */
export function tagOf({ path }: Pick<Route, "path">): string {
  const [, resource] = /\/events\/\{event\}\/([\w-]+)\//.exec(path) ?? /\/(retention)\//.exec(path) ?? [];
  return resource === undefined ? "deployment" : resource === "checkinlist" ? "checkinlists" : resource;
}

export function describeTag(name: string): object {
  const found = tags[name];
  if (found === undefined) throw new Error(`the group of routes ${name} has no description`);
  const [title, description] = found;
  return { name, description, "x-displayName": title };
}
