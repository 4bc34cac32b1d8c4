export interface SeatPlace {
  readonly zone_name: string;
  readonly row_name: string;
  readonly row_label: string | null;
  readonly seat_number: string;
  readonly seat_label: string | null;
}

/** Composes a seat's name of zone, row and number, with labels before bare numbers. */
export function composeSeatName({ zone_name, row_name, row_label, seat_number, seat_label }: SeatPlace): string {
  return [
    zone_name,
    row_label || (row_name === "" ? "" : `Row ${row_name}`),
    seat_label || (seat_number === "" ? "" : `Seat ${seat_number}`),
  ]
    .filter((part) => part !== "")
    .join(", ");
}
