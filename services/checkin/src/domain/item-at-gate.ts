export interface ItemAtGate {
  readonly admission: boolean;
  /** Overrides the settings of the event. */
  readonly generateTickets: boolean | null;
  /** Set on the item or on the ticket's variation. */
  readonly attention: boolean;
}
