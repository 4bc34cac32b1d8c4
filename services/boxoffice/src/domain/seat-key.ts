/** The natural key of a seat of an event: every date of a series has its own seats. */
export function seatKey(guid: string, subevent: number | null): string {
  return `${subevent ?? 0}/${guid}`;
}
