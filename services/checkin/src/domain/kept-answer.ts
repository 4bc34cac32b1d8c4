export interface KeptAnswer {
  readonly question: number;
  /** Drawn from one sequence for the answers of all positions. */
  readonly revision: number;
  /** An encoded GivenAnswer without its revision. */
  readonly state: Uint8Array;
}

export interface AnsweredPosition {
  readonly organizer: string;
  readonly event: string;
  readonly id: number;
  readonly answers: readonly KeptAnswer[];
}
