/** Where a record lives. `event` is empty for what belongs to the organizer itself. */
export interface Scope {
  readonly organizer: string;
  readonly event: string;
}
