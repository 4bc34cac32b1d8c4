import { signal } from "@preact/signals";
import type { Localized } from "@tessera/values";
import { makeKey } from "../ui/make-key.ts";
import { type Followed, followLive } from "./follow-live.ts";
import { type AskedReport, type ReadReport, readReport } from "./report/read-report.ts";
import { isDate } from "./report/report.ts";
import { addressOf, ask, askAll } from "./server.ts";

/** The person that this browser is signed in as. */
export interface Person {
  readonly organizer: string;
  readonly name: string;
}

export interface ListedEvent {
  readonly slug: string;
  readonly name: Localized;
  readonly date_from: string | null;
}

export type Stage =
  | { readonly at: "starting" }
  | { readonly at: "away" }
  /** `refused` is what the server says about a link; `providers` whether people sign in elsewhere. */
  | { readonly at: "signed_out"; readonly refused: string | undefined; readonly elsewhere: boolean }
  | { readonly at: "choosing"; readonly events: readonly ListedEvent[]; readonly unknown: boolean }
  | { readonly at: "watching"; readonly event: ListedEvent; readonly followed: Followed }
  | { readonly at: "reporting"; readonly event: ListedEvent; readonly read: ReadReport };

export const stage = signal<Stage>({ at: "starting" });
export const person = signal<Person | undefined>(undefined);

const retryMs = 3000;

/** Takes the token of a sign-in link out of the address, so that it stays in no history. */
export function takeLinkFromAddress(): string | undefined {
  const link = new URLSearchParams(location.hash.slice(1)).get("link") ?? undefined;
  if (link !== undefined) history.replaceState(null, "", location.pathname);
  return link;
}

/** Signs in by a link, or goes on with the session of this browser. `opening` gets a lost answer again. */
export async function start(link?: string, opening = makeKey()): Promise<void> {
  const answer =
    link === undefined
      ? await ask<Person>("session/")
      : await ask<Person>("session/", { method: "POST", body: { link, opening } });
  if (answer.kind === "away") return retry(() => start(link, opening));
  if (answer.kind === "success") {
    person.value = answer.body;
    return openAddressed();
  }
  if (link === undefined) return showSignedOut(undefined);
  // A used link of the browser that it has signed in: go on.
  const current = await ask<Person>("session/");
  if (current.kind !== "success") return showSignedOut(answer.detail);
  person.value = current.body;
  return openAddressed();
}

function retry(again: () => Promise<void>): void {
  leaveEvent();
  stage.value = { at: "away" };
  setTimeout(() => void again(), retryMs);
}

async function showSignedOut(refused: string | undefined): Promise<void> {
  leaveEvent();
  person.value = undefined;
  stage.value = { at: "signed_out", refused, elsewhere: await signsInElsewhere() };
}

/** Whether the platform signs people in by a provider: this address then leads there, and does not exist otherwise. */
async function signsInElsewhere(): Promise<boolean> {
  const answer = await fetch(addressOf("session/oidc/"), { method: "HEAD", redirect: "manual" }).catch(() => undefined);
  return answer !== undefined && answer.status !== 404;
}

/** Without an answer the session lives on: a page that says something else would leave a shared screen open. */
export async function signOut(): Promise<void> {
  const answer = await ask("session/", { method: "DELETE" });
  if (answer.kind === "away") return retry(signOut);
  await showSignedOut(undefined);
}

function eventInAddress(): string | undefined {
  return new URLSearchParams(location.hash.slice(1)).get("event") ?? undefined;
}

/** `report=2027-05-12`, or `report=` for the last day with scans. */
function reportInAddress(): AskedReport | undefined {
  const address = new URLSearchParams(location.hash.slice(1));
  const [date, list] = [address.get("report"), Number(address.get("list"))];
  if (date === null) return undefined;
  return { date: isDate(date) ? date : undefined, list: Number.isSafeInteger(list) && list > 0 ? list : undefined };
}

/** The path of an event of the person's organizer. */
export function inEventOf({ slug }: Pick<ListedEvent, "slug">): string {
  return `organizers/${person.value?.organizer ?? ""}/events/${slug}`;
}

/** Shows the report of a day, which the address keeps. */
export function openReport(event: ListedEvent, asked: AskedReport): void {
  leaveEvent();
  const address = new URLSearchParams({ event: event.slug, report: asked.date ?? "" });
  if (asked.list !== undefined) address.set("list", String(asked.list));
  history.replaceState(null, "", `#${address}`);
  const read = readReport(inEventOf(event), asked, () => void showSignedOut(undefined));
  stage.value = { at: "reporting", event, read };
}

const openAddressed = () => open(eventInAddress(), { report: reportInAddress() });

/** Shows an event; without one, or where it is unknown, the choice of events. One event alone needs no choice. */
export async function open(
  slug: string | undefined,
  { mayChoose = false, report }: { readonly mayChoose?: boolean; readonly report?: AskedReport | undefined } = {},
): Promise<void> {
  const { organizer } = person.value ?? { organizer: "" };
  const answer = await askAll<ListedEvent>(`organizers/${organizer}/events/?ordering=-date_from`);
  if (answer.kind === "away") return retry(() => open(slug, { mayChoose, report }));
  if (answer.kind === "refused")
    return answer.status === 401 ? showSignedOut(undefined) : retry(() => open(slug, { mayChoose, report }));
  const events = answer.results;
  leaveEvent();
  const only = events.length === 1 && !mayChoose ? events[0] : undefined;
  const event = slug === undefined ? only : events.find((each) => each.slug === slug);
  if (event === undefined) {
    history.replaceState(null, "", location.pathname);
    stage.value = { at: "choosing", events, unknown: slug !== undefined };
    return;
  }
  if (report !== undefined) return openReport(event, report);
  history.replaceState(null, "", `#event=${event.slug}`);
  const followed = followLive({ organizer, event: event.slug }, (status) => void onRefused(status, event.slug));
  stage.value = { at: "watching", event, followed };
}

/** The server has ended the stream: the session may be over, or the event gone. */
async function onRefused(status: number, slug: string): Promise<void> {
  await (status === 401 ? showSignedOut(undefined) : open(slug, { mayChoose: true }));
}

function leaveEvent(): void {
  if (stage.value.at === "watching") stage.value.followed.end();
  if (stage.value.at === "reporting") stage.value.read.end();
}
