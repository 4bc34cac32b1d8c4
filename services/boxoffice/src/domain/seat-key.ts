/** What tells the seats of an event apart: every date of a series has seats of its own. */
export function seatKey(guid: string, subevent: number | null): string {
  return `${subevent ?? 0}/${guid}`;
}
