/** Where a position is: what its addresses are made of. */
export interface PositionAddress {
  /** The deployment's address, without a slash at its end. */
  readonly base: string;
  readonly organizer: string;
  readonly event: string;
}

/** The address of the file that a position answers a question with. */
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
