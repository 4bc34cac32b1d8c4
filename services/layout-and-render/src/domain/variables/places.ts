import { fillPhrase } from "../formats/words.ts";
import type { Seat } from "../ticket.ts";
import { type Evaluate, occasionOf, type View } from "./view.ts";

/** An add-on has the seat of its base ticket. */
function seatOf({ ticket: { position, parent } }: View): Seat | null {
  return position.seat ?? parent?.seat ?? null;
}

/** Where others have seats, a ticket without one is general admission. */
function anywhere({ ticket, formats }: View): string {
  return occasionOf(ticket).hasSeatingPlan ? formats.words.generalAdmission : "";
}

function seatName({ name, zone, row, rowLabel, number, numberLabel }: Seat, { formats }: View): string {
  const { words } = formats;
  const parts = [
    zone,
    rowLabel || (row === "" ? "" : fillPhrase(words.row, row)),
    numberLabel || (number === "" ? "" : fillPhrase(words.seat, number)),
  ];
  return parts.filter((part) => part !== "").join(", ") || name;
}

export const places = {
  seat: (view) => {
    const seat = seatOf(view);
    return seat === null ? anywhere(view) : seatName(seat, view);
  },
  seat_zone: (view) => seatOf(view)?.zone ?? anywhere(view),
  seat_row: (view) => seatOf(view)?.row ?? "",
  seat_number: (view) => seatOf(view)?.number ?? "",
} as const satisfies Readonly<Record<string, Evaluate>>;
