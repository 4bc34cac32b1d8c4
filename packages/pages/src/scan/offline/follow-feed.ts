import { Pack } from "@tessera/values";
import { askServer } from "../server/ask-server.ts";
import { pause } from "../server/pause.ts";
import type { KeptDevice } from "../set-up/kept-device.ts";
import { completeAt, dropCopy, heldCopy, loadCopy, takeLines, takePacks } from "./event-copy.ts";
import { dropTold } from "./kept-scans.ts";

/** Proxies close connections that are silent for longer. */
const waitSeconds = 25;
/** A hundred thousand tickets come in seconds; a slow phone network needs longer. */
const packMs = 120_000;
/** An answer of the feed ends after a minute, though there may be more to tell. */
const cutMs = 55_000;
const feedMs = 90_000;
/** So many changes take longer to read at the next start than new packs. */
const mostCharacters = 8_000_000;
const pauses = { leastMs: 1000, mostMs: 30_000 };

/** Keeps the copy of an event up to date until told to stop. Scans are decided from what there is meanwhile. */
export async function followFeed({ organizer, token }: KeptDevice, event: string, stopped: AbortSignal): Promise<void> {
  if (heldCopy.value?.copy.slug !== event || heldCopy.value.organizer !== organizer) dropCopy();
  // What cannot be read is fetched again.
  if (heldCopy.value === undefined) await loadCopy(organizer, event, stopped).catch(() => {});
  let pauseMs = pauses.leastMs;
  while (!stopped.aborted) {
    // What cannot be read is no reason to stop: scans are decided by what there is.
    const went = await step({ organizer, token, event, stopped }).catch(() => false);
    if (went) {
      pauseMs = pauses.leastMs;
      continue;
    }
    await pause(pauseMs * (0.75 + Math.random() / 2), stopped);
    pauseMs = Math.min(pauseMs * 2, pauses.mostMs);
  }
}

interface Follow {
  readonly organizer: string;
  readonly token: string;
  readonly event: string;
  readonly stopped: AbortSignal;
}

/** Makes one request, or those of one copy. False: it came to nothing, and is to be tried again later. */
async function step(follow: Follow): Promise<boolean> {
  const held = heldCopy.value;
  if (held === undefined || held.characters > mostCharacters) return fetchPacks(follow);
  const { organizer, token, event, stopped } = follow;
  // The first answer says at once that nothing is missing.
  const wait = completeAt.value === undefined ? "0" : String(waitSeconds);
  const query = new URLSearchParams({ events: event, codes: "hashed", after: held.cursor, wait });
  const asked = Date.now();
  const answer = await askServer(`organizers/${organizer}/sync/?${query}`, {
    ...{ token, timeoutMs: feedMs, signal: stopped, reads: "text", isLong: true },
  });
  if (stopped.aborted || answer.kind !== "answer") return false;
  // The cursor leads nowhere any more. Until new packs are there, the old ones decide.
  if (answer.status === 410 || answer.status === 400) {
    await fetchPacks(follow);
    // A server may hand out packs that its feed does not follow, too.
    return false;
  }
  if (answer.status !== 200) return false;
  const after = await takeLines(held, answer.body as string);
  if (after === held) return false;
  const came = Date.now();
  if (came - asked < cutMs) {
    completeAt.value = came;
    await dropTold(came);
  }
  return true;
}

async function fetchPacks({ organizer, token, event, stopped }: Follow): Promise<boolean> {
  const packs: Uint8Array[] = [];
  let cursor = "";
  for (let next: string | null = ""; next !== null; ) {
    const from: string = next === "" ? "" : `?from=${encodeURIComponent(next)}`;
    const answer = await askServer(`organizers/${organizer}/events/${event}/pack/${from}`, {
      ...{ token, timeoutMs: packMs, signal: stopped, reads: "bytes", isLong: true },
    });
    if (stopped.aborted || answer.kind !== "answer" || answer.status !== 200) return false;
    const bytes = answer.body as Uint8Array;
    const info = new Pack(bytes).info as { readonly cursor: string | null; readonly next: string | null };
    if (packs.length === 0) cursor = info.cursor ?? "";
    packs.push(bytes);
    next = info.next;
  }
  await takePacks({ organizer, event, packs, cursor });
  return true;
}
