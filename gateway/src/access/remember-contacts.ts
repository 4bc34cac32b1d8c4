import type { HeardContact } from "../store/device-contacts.ts";
import type { Tenant } from "./caller.ts";

/** A larger number counts as missing, so that sums over all devices stay exact. */
const mostQueued = 1_000_000;

/** Notes what is heard of devices, until it is stored. */
export class DeviceContacts {
  readonly #now: () => number;
  #heard = new Map<string, HeardContact>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Notes a request of a device; what its headers say replaces what they said before. */
  noteRequest(tenant: Tenant, header: (name: string) => string): void {
    const queue = readCount(header("X-Queue-Length"), mostQueued);
    const battery = readCount(header("X-Battery-Level"), 100);
    this.#note(tenant, (known) => ({
      ...{ queue: queue ?? known.queue, battery: battery ?? known.battery },
      seenAt: this.#now(),
    }));
  }

  /** Notes that a device was given all changes, which may be long after its request. */
  noteSync(tenant: Tenant): void {
    this.#note(tenant, () => ({ syncedAt: this.#now() }));
  }

  /** Takes what has been noted since the last call. */
  take(): HeardContact[] {
    const heard = [...this.#heard.values()];
    this.#heard = new Map();
    return heard;
  }

  #note({ device, organizer }: Tenant, change: (known: HeardContact) => Partial<HeardContact>): void {
    if (device === undefined) return;
    const key = `${organizer}/${device.deviceId}`;
    const unknown = { organizer, device: device.deviceId, seenAt: null, syncedAt: null, queue: null, battery: null };
    const known = this.#heard.get(key) ?? unknown;
    this.#heard.set(key, { ...known, ...change(known) });
  }
}

/** A header that cannot be read counts as missing: it must refuse no scan. */
function readCount(text: string, most: number): number | undefined {
  const count = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  return count !== undefined && count <= most ? count : undefined;
}
