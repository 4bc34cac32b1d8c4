/** The place of a record. `event` is empty for entities of the organizer itself. */
export interface Scope {
  readonly organizer: string;
  readonly event: string;
}
