import { expect, it } from "vitest";
import type { Tenant } from "./caller.ts";
import { DeviceContacts } from "./remember-contacts.ts";

let now = 0;
const device = { organizer: "bigevents", device: { deviceId: 3 } } as unknown as Tenant;

function contactsAt(at: number) {
  now = at;
  return new DeviceContacts(() => now);
}
const says = (headers: Readonly<Record<string, string>>) => (name: string) => headers[name] ?? "";
const heard = { organizer: "bigevents", device: 3, seenAt: null, syncedAt: null, queue: null, battery: null };

it("[F5.2] keeps what a device said last of itself", () => {
  const contacts = contactsAt(1);
  contacts.noteRequest(device, says({ "X-Queue-Length": "1000000", "X-Battery-Level": "100" }));
  now = 2;
  contacts.noteRequest(device, says({ "X-Queue-Length": "7" }));
  expect(contacts.take()).toEqual([{ ...heard, seenAt: 2, queue: 7, battery: 100 }]);
  expect(contacts.take()).toEqual([]);
});

it.each(["", "-1", "1.5", "1e3", "1000001", "999999999999999", "9007199254740993"])(
  "[F5.2] ignores a queue of %j scans, so that sums over all devices are exact",
  (queue) => {
    const contacts = contactsAt(1);
    contacts.noteRequest(device, says({ "X-Queue-Length": queue, "X-Battery-Level": "101" }));
    expect(contacts.take()).toEqual([{ ...heard, seenAt: 1 }]);
  },
);

it("[F5.1, F5.3] takes the moment when a device has all changes for no request", () => {
  const contacts = contactsAt(1);
  contacts.noteRequest(device, says({ "X-Queue-Length": "7" }));
  now = 2;
  contacts.noteSync(device);
  expect(contacts.take()).toEqual([{ ...heard, seenAt: 1, syncedAt: 2, queue: 7 }]);
  contacts.noteSync(device);
  expect(contacts.take()).toEqual([{ ...heard, syncedAt: 2 }]);
});
