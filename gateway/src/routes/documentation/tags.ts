import type { Route } from "../../http/route.ts";

const tags: Readonly<Record<string, readonly [title: string, description: string]>> = {
  checkinlists: ["Check-in lists", "Who may enter where: lists, their tickets and counts, and scans on them."],
  gates: ["Gates", "Scans on lists of several events, and the feed that gates follow."],
  checkins: ["Scans", "The history of an event: every scan, refused or not."],
  live: ["Live", "How the gates of an event run right now: who is inside, how fast each gate is, what is refused."],
  alarms: ["Alarms", "What somebody should look at, at the gates of an event."],
  doubles: [
    "Doubles",
    "Tickets that were let in at two places that could not know of each other, or without a network though they were not to be admitted.",
  ],
  records: ["Records", "Events, products, orders and all else that a shop knows, as one stream."],
  credentials: [
    "Keys and devices",
    "API keys for programs and devices for scanners, made and revoked by the operator.",
  ],
  sessions: ["People", "Links with which people sign in with a browser, and the sessions that they become."],
  catalogue: ["Events and products", "What records brought, to be read: scanners learn from it what they scan."],
  vouchers: ["Vouchers", "Codes that customers redeem: for a price, a product, or capacity that is kept free."],
  ticketlayouts: [
    "Ticket layouts",
    "What tickets look like. Drafts can be printed and examined before they are stored.",
  ],
  ticketlayoutitems: ["Assignments of layouts", "Which product and sales channel has which layout."],
  orders: ["Orders", "Orders with their tickets and scans: scanners that work without a network read them all."],
  orderpositions: [
    "Tickets",
    "A ticket of any order, as PDF too; the files that answer its questions, and what was printed.",
  ],
  ticketpdfrenderer: ["Printing", "Many tickets in one PDF, made by a job."],
  offlinesalesbatches: [
    "Offline sales",
    "Batches of paid tickets that are sold elsewhere, printed or canceled together.",
  ],
  shredders: ["Erasure", "Personal data of an event that is over: exported, erased everywhere, and certified."],
  retention: ["Retention", "How long an organizer keeps personal data before it is erased by itself."],
  deployment: ["Deployment", "Uploads, repeated requests, and this document."],
};

/** The group of a route, by a part of its path; the first match counts. */
const parts: readonly (readonly [part: RegExp, tag: string])[] = [
  [/\/events\/\{event\}\/checkinlist\//, "checkinlists"],
  [/\/(?:checkinrpc|sync|pack)\//, "gates"],
  [
    /\/(?:events|subevents|categories|items|questions|quotas|settings|(?:revoked|blocked)secrets|reusablemedia|gates|badge\w+)\/(?:\{id\}\/(?:availability\/)?)?$|\/events\/\{event\}\/$/,
    "catalogue",
  ],
  [/\/events\/\{event\}\/([\w-]+)\//, "$1"],
  [/\/(ticketlayouts|shredders|retention)\//, "$1"],
  [/\/import\//, "records"],
  [/\/(?:signinlinks|sessions?)\//, "sessions"],
  [/\/(?:apikeys|devices)\/|\/api\/v1\/(?:device\/|version$)/, "credentials"],
  [/^/, "deployment"],
];

export function tagOf({ path }: Pick<Route, "path">): string {
  const [part = /^/, tag = ""] = parts.find(([pattern]) => pattern.test(path)) ?? [];
  return tag.replace("$1", part.exec(path)?.[1] ?? "");
}

/** All groups, in display order. */
export const tagNames: readonly string[] = Object.keys(tags);

export function describeTag(name: string): object {
  const found = tags[name];
  if (found === undefined) throw new Error(`the group of routes ${name} has no description`);
  const [title, description] = found;
  return { name, description, "x-displayName": title };
}
