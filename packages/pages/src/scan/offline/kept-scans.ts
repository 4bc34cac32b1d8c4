import { signal } from "@preact/signals";
import type { OwnScan } from "@tessera/admission";
import { openStorage, within } from "../storage.ts";
import type { KeptScan } from "./kept-scan.ts";

/** The oldest first. */
export const keptScans = signal<readonly KeptScan[]>([]);

/** Scans that this browser could not store: they are in memory alone. */
export const isStorageFull = signal(false);

/** Scans of which storage lacks what memory has, and scans that are to be deleted there. */
const unstored = new Set<string>();
const undeleted = new Set<string>();

/** Whether a reload would lose what a crew has seen. */
export function hasUnstored(): boolean {
  return unstored.size > 0;
}

/** Reads what an earlier visit, or another tab, has left. Of a scan that is known here, memory has the newest. */
export async function loadScans(): Promise<void> {
  const stored = await within(readScans());
  const known = new Set(keptScans.value.map(({ nonce }) => nonce));
  const found = stored.filter(({ nonce }) => !known.has(nonce) && !undeleted.has(nonce));
  if (found.length > 0) keptScans.value = [...keptScans.value, ...found].sort((one, other) => one.at - other.at);
  await storeAgain(new Set(stored.map(({ nonce }) => nonce)));
}

/** Stores what storage has lost, or had no room for. */
async function storeAgain(stored: ReadonlySet<string>): Promise<void> {
  for (const { nonce } of keptScans.value) {
    const scan = keptScan(nonce);
    if (scan === undefined || (stored.has(nonce) && !unstored.has(nonce))) continue;
    if (!(await within(store(scan)).catch(() => false))) return;
  }
  isStorageFull.value = hasUnstored();
}

async function readScans(): Promise<KeptScan[]> {
  return (await openStorage()).getAll("scans");
}

/** Another tab scans from now on, and changes what is stored. */
export function forgetStored(): void {
  keptScans.value = keptScans.value.filter(({ nonce }) => unstored.has(nonce));
}

/** Forgets all scans: the device was revoked, or is to be forgotten. */
export function forgetScans(): void {
  keptScans.value = [];
  unstored.clear();
  undeleted.clear();
}

/** Stores a scan before its verdict is shown: what a crew has seen survives that the tab is killed. */
export async function keepScan(scan: KeptScan): Promise<void> {
  keptScans.value = [...keptScans.value.filter(({ nonce }) => nonce !== scan.nonce), scan];
  unstored.add(scan.nonce);
  undeleted.delete(scan.nonce);
  isStorageFull.value = !(await within(store(scan)).catch(() => false));
}

async function store(scan: KeptScan): Promise<boolean> {
  const transaction = (await openStorage()).transaction("scans", "readwrite", { durability: "strict" });
  await Promise.all([transaction.store.put(scan), transaction.done]);
  if (keptScan(scan.nonce) === scan) unstored.delete(scan.nonce);
  return true;
}

export async function dropScans(nonces: ReadonlySet<string>): Promise<void> {
  if (nonces.size === 0) return;
  keptScans.value = keptScans.value.filter(({ nonce }) => !nonces.has(nonce));
  for (const nonce of nonces) {
    unstored.delete(nonce);
    undeleted.add(nonce);
  }
  // What stays is uploaded once more after a reload; that changes nothing.
  await within(remove(nonces)).catch(() => {});
}

async function remove(nonces: ReadonlySet<string>): Promise<void> {
  const transaction = (await openStorage()).transaction("scans", "readwrite");
  await Promise.all([...Array.from(nonces, (nonce) => transaction.store.delete(nonce)), transaction.done]);
  for (const nonce of nonces) undeleted.delete(nonce);
}

/** Changes scans where they are still kept. */
export async function changeScans(nonces: ReadonlySet<string>, changes: Partial<KeptScan>): Promise<void> {
  for (const nonce of nonces) {
    const scan = keptScan(nonce);
    if (scan !== undefined) await keepScan({ ...scan, ...changes });
  }
}

export const keptScan = (wanted: string) => keptScans.value.find(({ nonce }) => nonce === wanted);
export const waitingScans = () => keptScans.value.filter(({ state }) => state === "waiting");
export const doubtfulScans = () => keptScans.value.filter(({ state }) => state === "doubtful");

/** The nonce of a refusal of this page that the server was asked about and has not answered. */
export function findUnanswered(wanted: {
  readonly code: string;
  readonly type: string;
  readonly list: number;
  readonly token: string;
}): string | undefined {
  return waitingScans().find(
    ({ ticket, wasAsked, code, type, list, token }) =>
      ticket === null &&
      wasAsked &&
      code === wanted.code &&
      type === wanted.type &&
      list === wanted.list &&
      token === wanted.token,
  )?.nonce;
}

/** The scans that count for tickets of an organizer beside what the feed tells. */
export function ownScans(of: string): OwnScan[] {
  return keptScans.value.flatMap(({ ticket, organizer, list, nonce, type, at }) =>
    ticket === null || organizer !== of ? [] : [{ ticket, list, nonce, type, at: at * 1000 }],
  );
}

/** An answer of the feed takes less than this to tell a change. */
const toldMs = 5000;

/** Takes note that an answer of the feed, which ended at this time, has told scans: they count by what it tells. */
export async function dropTold(ended: number): Promise<void> {
  const told = keptScans.value.filter(({ state, since }) => state !== "waiting" && since + toldMs < ended);
  const noncesOf = (wanted: KeptScan["state"]) =>
    new Set(
      told
        .filter(({ state, ticket }) => state === wanted && (state === "stored" || ticket !== null))
        .map(({ nonce }) => nonce),
    );
  await changeScans(noncesOf("doubtful"), { ticket: null });
  await dropScans(noncesOf("stored"));
}
