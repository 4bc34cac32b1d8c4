import type { Attempt } from "../one-scan.ts";

/** A scan that was decided, until the server and the feed have it. */
export interface KeptScan
  extends Pick<Attempt, "nonce" | "code" | "type" | "ignoreUnpaid" | "force" | "answers" | "medium"> {
  /** The device that made it: another one that this browser becomes uploads it as that one. */
  readonly organizer: string;
  readonly token: string;
  readonly event: string;
  readonly list: number;
  /** In milliseconds, by the clock of the server. */
  readonly at: number;
  /** Of the ticket that was let in or out; null: it was refused. */
  readonly ticket: number | null;
  /** Of a refusal. */
  readonly reason: string;
  /** The server was asked, and its answer did not come: it may have admitted the ticket. */
  readonly wasAsked: boolean;
  /**
   * `waiting`: the server has to get it. `stored`: the server has it, and the feed may not tell it yet. `doubtful`: the
   * server has it, and would have refused it; a crew has to see that.
   */
  readonly state: "waiting" | "stored" | "doubtful";
  /** Since when it is in this state, by the clock of this phone. */
  readonly since: number;
  /** Why the server would have refused it. */
  readonly objection?: string;
}
