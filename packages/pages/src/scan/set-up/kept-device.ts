/** The list that this device scans on. */
export interface ChosenList {
  readonly event: string;
  readonly eventName: string;
  readonly list: number;
  readonly listName: string;
}

/** What survives a reload: who this device is, and what it scans. No ticket and no person is in it. */
export interface KeptDevice {
  readonly token: string;
  readonly organizer: string;
  readonly number: number;
  readonly name: string;
  readonly profile: string;
  readonly gate: string | null;
  readonly gateId: number | null;
  /** Whether the server finds a list by its id alone, on routes for lists of several events. */
  readonly hasListIds: boolean;
  readonly chosen: ChosenList | null;
}
