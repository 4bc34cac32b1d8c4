import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { signal } from "@preact/signals";
import { EventCopy, type FeedLine } from "@tessera/admission";
import { Pack } from "@tessera/values";
import { type KeptChanges, type KeptPacks, openStorage, within } from "../storage.ts";

/** The copy that this page decides from. */
export interface HeldCopy {
  readonly organizer: string;
  readonly copy: EventCopy;
  readonly cursor: string;
  /** Of the changes since the packs. */
  readonly characters: number;
}

/** The copy of the event that is scanned; undefined: not read yet. */
export const heldCopy = signal<HeldCopy | undefined>(undefined);

/** When an answer of the feed last said that nothing is missing, by the clock of this phone. */
export const completeAt = signal<number | undefined>(undefined);

const hashBytes = 8;

/** Without https browsers have no hashes of their own. */
function open({ packs }: Pick<KeptPacks, "packs">): EventCopy {
  const read = packs.map((bytes) => new Pack(bytes));
  const key = Uint8Array.from(atob(String(read[0]?.info["key"] as string)), (letter) => letter.charCodeAt(0));
  const texts = new TextEncoder();
  return new EventCopy(read, (code) => hmac(sha256, key, texts.encode(code)).subarray(0, hashBytes));
}

/** Reads the copy that an earlier visit has stored. */
export async function loadCopy(organizer: string, event: string, stopped: AbortSignal): Promise<void> {
  const { kept, changes } = await within(readCopy(), longestMs);
  // Organizers may give their events the same name.
  if (stopped.aborted || kept === undefined || kept.organizer !== organizer || kept.event !== event) return;
  const copy = open(kept);
  for (const { lines } of changes) applyLines(copy, lines);
  const characters = changes.reduce((sum, { lines }) => sum + lines.length, 0);
  heldCopy.value = { organizer, copy, cursor: changes.at(-1)?.cursor ?? kept.cursor, characters };
  isStored = true;
}

async function readCopy() {
  const storage = await openStorage();
  return { kept: await storage.get("packs", "packs"), changes: await storage.getAll("changes") };
}

/** Packs are megabytes, and phones slow. What is not stored by then comes from the server at the next start. */
const longestMs = 20_000;

/** Takes new packs, which replace what there was. */
export async function takePacks(kept: KeptPacks): Promise<void> {
  heldCopy.value = { organizer: kept.organizer, copy: open(kept), cursor: kept.cursor, characters: 0 };
  isStored = await within(storePacks(kept), longestMs).catch(() => false);
}

/** Changes are stored behind the packs that they follow, and without a gap. */
let isStored = true;

/** Undefined: what is stored is to be deleted, because it goes no further. */
async function storePacks(kept: KeptPacks | undefined): Promise<boolean> {
  try {
    const transaction = (await openStorage()).transaction(["packs", "changes"], "readwrite");
    const packs = transaction.objectStore("packs");
    await Promise.all([
      kept === undefined ? packs.clear() : packs.put(kept, "packs"),
      transaction.objectStore("changes").clear(),
      transaction.done,
    ]);
    return kept !== undefined;
  } catch {
    return false;
  }
}

async function storeChanges(changes: KeptChanges): Promise<void> {
  if (!isStored) return;
  try {
    await within(addChanges(changes), longestMs);
  } catch {
    isStored = false;
    await within(storePacks(undefined), longestMs).catch(() => {});
  }
}

async function addChanges(changes: KeptChanges): Promise<void> {
  await (await openStorage()).add("changes", changes);
}

/** Takes the lines of an answer up to its last cursor; those behind it come again. */
export async function takeLines(held: HeldCopy, answer: string): Promise<HeldCopy> {
  const last = answer.lastIndexOf('{"kind":"cursor"');
  if (last < 0) return held;
  const end = answer.indexOf("\n", last);
  const { cursor } = JSON.parse(answer.slice(last, end < 0 ? undefined : end)) as { readonly cursor: string };
  const lines = answer.slice(0, last);
  applyLines(held.copy, lines);
  const after = { ...held, cursor, characters: held.characters + lines.length };
  heldCopy.value = after;
  if (lines !== "") await storeChanges({ lines, cursor });
  return after;
}

function applyLines(copy: EventCopy, lines: string): void {
  for (const line of lines.split("\n")) if (line !== "") copy.apply(JSON.parse(line) as FeedLine);
}

/** Forgets the copy: another event is scanned, or the device was revoked. */
export function dropCopy(): void {
  heldCopy.value = undefined;
  completeAt.value = undefined;
}
