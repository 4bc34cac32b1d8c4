import { type DBSchema, deleteDB, type IDBPDatabase, openDB } from "idb";
import type { KeptScan } from "./offline/kept-scan.ts";
import type { KeptDevice } from "./set-up/kept-device.ts";

/** The packs of the event of an organizer that is scanned. A record, not one for each ticket: phones store few large ones fast. */
export interface KeptPacks {
  readonly organizer: string;
  readonly event: string;
  readonly packs: readonly Uint8Array[];
  readonly cursor: string;
}

/** What an answer of the feed told after them. */
export interface KeptChanges {
  readonly lines: string;
  readonly cursor: string;
}

/** Everything that this page stores. No name of a person is in it; codes are, until their scans are uploaded. */
interface Schema extends DBSchema {
  kept: { key: "device"; value: KeptDevice };
  packs: { key: "packs"; value: KeptPacks };
  /** In the order in which they came. */
  changes: { key: number; value: KeptChanges };
  scans: { key: string; value: KeptScan };
}

const name = "tessera-scanner";

let opened: Promise<IDBPDatabase<Schema>> | undefined;

/** Opens what this page has stored in this browser. */
export function openStorage(): Promise<IDBPDatabase<Schema>> {
  opened ??= openDB<Schema>(name, 1, {
    upgrade(database) {
      database.createObjectStore("kept");
      database.createObjectStore("packs");
      database.createObjectStore("changes", { autoIncrement: true });
      database.createObjectStore("scans", { keyPath: "nonce" });
    },
    // Another tab forgets the device: this one must not hold it back.
    blocking: (_current, _wanted, event) => {
      (event.target as IDBDatabase).close();
      opened = undefined;
    },
    terminated: () => {
      opened = undefined;
    },
  });
  // What could not be opened now may be later.
  opened.catch(() => {
    opened = undefined;
  });
  return opened;
}

/** A storage that does not answer keeps no crew waiting. */
const longestMs = 1500;

/** Waits for storage, but not for ever. */
export async function within<T>(done: Promise<T>, ms = longestMs): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error("the storage of this browser does not answer")), ms);
  });
  try {
    return await Promise.race([done, late]);
  } finally {
    clearTimeout(timer);
  }
}

export function loadDevice(): Promise<KeptDevice | undefined> {
  return within(readDevice(), startMs);
}

/** An old phone opens its storage slowly at the first start. */
const startMs = 8000;

async function readDevice(): Promise<KeptDevice | undefined> {
  return (await openStorage()).get("kept", "device");
}

export async function keepDevice(device: KeptDevice): Promise<void> {
  await (await openStorage()).put("kept", device, "device");
}

/** Deletes all that this page has stored. */
export async function emptyStorage(): Promise<void> {
  const database = await opened?.catch(() => undefined);
  for (const store of ["kept", "packs", "changes", "scans"] as const) await database?.clear(store).catch(() => {});
  database?.close();
  opened = undefined;
  localStorage.clear();
  sessionStorage.clear();
  await deleteDB(name).catch(() => {});
}
