import { setTimeout as sleep } from "node:timers/promises";
import { apiKey, recordOf } from "./on-empty-platform.ts";

const event = "/api/v1/organizers/bench/events/festival";

const scanned = { tickets: 2000, perSecond: 20 } as const;

/** Tickets that are scanned while something else is measured, with a list, as records. */
export function scannedTickets(): string[] {
  const lists = [1, 2].map((id) => recordOf("checkin_list", { id, name: `List ${id}`, allow_multiple_entries: true }));
  const orders = Array.from({ length: scanned.tickets }, (_, index) =>
    recordOf("order", {
      code: `B${index}`,
      status: "p",
      datetime: "2027-01-01T12:00:00Z",
      email: `attendee.${index}@example.org`,
      positions: [
        { id: index + 1, positionid: 1, item: 1, attendee_name: `Attendee ${index}`, secret: secretOf(index + 1) },
      ],
    }),
  );
  return [...lists, ...orders];
}

export function secretOf(id: number): string {
  return `bench${String(id).padStart(27, "0")}`;
}

/** Scans those tickets at a steady pace until something has happened; returns how long each took, in milliseconds. */
export async function scanUntil(
  baseUrl: string,
  { first, until }: { readonly first: number; readonly until: Promise<unknown> },
): Promise<number[]> {
  const over = { isOver: false };
  const noteEnd = () => {
    over.isOver = true;
  };
  until.then(noteEnd, noteEnd);
  const took: number[] = [];
  const underWay: Promise<void>[] = [];
  for (let id = first; !over.isOver && id <= scanned.tickets; id += 1) {
    const started = performance.now();
    const scan = fetch(`${baseUrl}${event}/checkinlists/2/positions/${secretOf(id)}/redeem/`, {
      method: "POST",
      headers: { authorization: `Token ${apiKey}`, "content-type": "application/json" },
      body: "{}",
    }).then(async (answer) => {
      await answer.arrayBuffer();
      if (answer.status !== 201) throw new Error(`a scan was answered ${answer.status}`);
      took.push(performance.now() - started);
    });
    underWay.push(scan);
    await sleep(1000 / scanned.perSecond);
  }
  await Promise.all(underWay);
  return took;
}
