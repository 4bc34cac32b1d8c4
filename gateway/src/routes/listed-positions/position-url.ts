/** The parts of a position's address. */
export interface PositionAddress {
  /** The deployment's address, without a trailing slash. */
  readonly base: string;
  readonly organizer: string;
  readonly event: string;
}

/** The address of a file that answers a question of a position. */
export function answerUrl(address: PositionAddress, position: number, question: number): string {
  return `${positionUrl(address, position)}answer/${question}/`;
}

/** The address of a file of a position, such as its ticket. */
export function downloadUrl(address: PositionAddress, position: number, output: string): string {
  return `${positionUrl(address, position)}download/${encodeURIComponent(output)}/`;
}

function positionUrl({ base, organizer, event }: PositionAddress, position: number): string {
  const inEvent = `${base}/api/v1/organizers/${encodeURIComponent(organizer)}/events/${encodeURIComponent(event)}`;
  return `${inEvent}/orderpositions/${position}/`;
}
