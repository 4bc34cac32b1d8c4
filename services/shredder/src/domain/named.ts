/** An export, or a case, of an event. */
export interface Named {
  readonly organizer: string;
  readonly event: string;
  /** A UUID. */
  readonly id: string;
}
