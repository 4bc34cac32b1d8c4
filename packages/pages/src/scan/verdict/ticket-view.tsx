import { say, sayLocalized, sayTime } from "../scan-speech.ts";
import type { KeptDevice } from "../set-up/kept-device.ts";
import type { PastScan, Ticket } from "./verdict.ts";

interface TicketOptions {
  readonly ticket: Ticket;
  readonly showsScans: boolean;
  readonly device: KeptDevice;
  readonly gates: ReadonlyMap<number, string>;
}

/** What is known of a ticket, each in its place: product, name, seat, order, and where it was scanned last. */
export function TicketView({ ticket, showsScans, device, gates }: TicketOptions) {
  const { product, variation, name, seat, order, checkins } = ticket;
  const [last] = checkins;
  return (
    <div class="ticket stack">
      {showsScans && last !== undefined ? <p class="reason">{sayScan(last, device, gates)}</p> : null}
      <p class="product">
        {sayLocalized(product)}
        {variation === undefined ? "" : ` – ${sayLocalized(variation)}`}
      </p>
      {name === undefined ? null : <p class="name">{name}</p>}
      {seat === undefined ? null : <p class="name">{say("seat", { seat })}</p>}
      {order === "" ? null : <p>{say("order", { order })}</p>}
    </div>
  );
}

/** When and where a ticket was scanned. */
function sayScan(
  { datetime, type, gate, device_id: by }: PastScan,
  device: KeptDevice,
  gates: ReadonlyMap<number, string>,
): string {
  const when = say(type === "exit" ? "last_exit" : "last_entry", { time: sayTime(datetime) });
  const gateName = gate === null ? undefined : gates.get(gate);
  const where = gateName === undefined ? [] : [say("last_where", { gate: gateName })];
  const who = by === null ? [] : [by === device.number ? say("last_here") : say("last_device", { device: by })];
  return [when, ...where, ...who].join(", ");
}
