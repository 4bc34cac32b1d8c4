import type { CodeProblem } from "./typed/check-code.ts";
import type { Exchange, Medium } from "./verdict/read-medium.ts";
import type { Verdict } from "./verdict/verdict.ts";

export type ScanType = "entry" | "exit";

/** One question to the server: sent again with its nonce, it counts once. */
export interface Attempt {
  readonly nonce: string;
  readonly code: string;
  readonly type: ScanType;
  /** When it was made, in milliseconds by the clock of the server. */
  readonly at: number;
  readonly ignoreUnpaid: boolean;
  readonly force: boolean;
  /** By question. */
  readonly answers: Readonly<Record<string, string>>;
  /** What the ticket is exchanged for. */
  readonly medium?: Medium | undefined;
  /** Another reading of what a scanner has typed, tried where the code is unknown. */
  readonly alsoRead?: string | undefined;
  /** Its other reading was tried before. */
  readonly isReread?: boolean;
}

/** Why nothing was decided. */
export type Trouble = "network" | "server";

export type ScanState =
  | { readonly at: "ready" }
  /** `waitsFor`: it failed, and is sent again within the wait for the verdict. */
  | { readonly at: "asking"; readonly attempt: Attempt; readonly isSlow: boolean; readonly waitsFor?: Trouble }
  | { readonly at: "undecided"; readonly attempt: Attempt; readonly trouble: Trouble }
  | { readonly at: "decided"; readonly attempt: Attempt; readonly verdict: Verdict }
  | { readonly at: "unreadable"; readonly problem: CodeProblem };

export type Happening =
  | { readonly what: "code"; readonly attempt: Attempt }
  | { readonly what: "unreadable"; readonly problem: CodeProblem }
  | { readonly what: "slow"; readonly nonce: string }
  | { readonly what: "failed" | "gave-up"; readonly nonce: string; readonly trouble: Trouble }
  | { readonly what: "answered"; readonly nonce: string; readonly verdict: Verdict }
  /** A person wants the same scan once more, or with what they have added; that is another one, with its own nonce. */
  | { readonly what: "again" }
  | { readonly what: "changed"; readonly nonce: string; readonly at: number; readonly change: Change }
  | { readonly what: "dismissed" };

export type Change = Partial<Pick<Attempt, "ignoreUnpaid" | "force" | "answers" | "medium">>;

export const ready: ScanState = { at: "ready" };

/** Decides what follows. What comes too late, or for another scan, changes nothing. */
export function follow(state: ScanState, happening: Happening): ScanState {
  switch (happening.what) {
    case "code":
      return takesCodes(state) ? { at: "asking", attempt: happening.attempt, isSlow: false } : state;
    case "unreadable":
      return takesCodes(state) ? { at: "unreadable", problem: happening.problem } : state;
    case "again":
      return state.at === "undecided" ? { at: "asking", attempt: state.attempt, isSlow: false } : state;
    case "changed":
      return state.at === "decided"
        ? { at: "asking", attempt: changeAttempt(state.attempt, happening), isSlow: false }
        : state;
    case "dismissed":
      return state.at === "asking" ? state : ready;
    default:
      return state.at === "asking" && state.attempt.nonce === happening.nonce ? whileAsking(state, happening) : state;
  }
}

function changeAttempt(attempt: Attempt, { change, nonce, at }: Extract<Happening, { what: "changed" }>): Attempt {
  return { ...attempt, ...change, nonce, at };
}

/** Whether a verdict is about one of two readings of a code, and the other one is tried next. */
export function isReadAgain({ alsoRead, isReread }: Attempt, { reason }: Pick<Verdict, "reason">): boolean {
  return reason === "invalid" && alsoRead !== undefined && isReread !== true;
}

type Asking = Extract<ScanState, { at: "asking" }>;

function whileAsking(state: Asking, happening: Extract<Happening, { nonce: string }>): ScanState {
  const { attempt } = state;
  switch (happening.what) {
    case "slow":
      return { ...state, isSlow: true };
    case "failed":
      return { at: "asking", attempt, isSlow: true, waitsFor: happening.trouble };
    case "gave-up":
      return { at: "undecided", attempt, trouble: happening.trouble };
    case "answered": {
      const { verdict } = happening;
      const { code, alsoRead, nonce } = attempt;
      if (alsoRead === undefined || !isReadAgain(attempt, verdict)) return { at: "decided", attempt, verdict };
      const reread = { ...attempt, code: alsoRead, alsoRead: code, isReread: true, nonce: `${nonce}2` };
      return { ...state, attempt: reread };
    }
    default:
      return state;
  }
}

/**
 * Whether the next code may take the place of what is shown. Not while the server is asked, while a person has to answer or a
 * medium is to be read, or while it is unknown what became of a ticket.
 */
export function takesCodes(state: ScanState): boolean {
  if (state.at === "ready" || state.at === "unreadable") return true;
  return state.at === "decided" && state.verdict.kind !== "questions" && exchangeOf(state) === undefined;
}

/** What the next code is to be, where a ticket waits for its medium. */
export function exchangeOf(state: ScanState): Exchange | undefined {
  return state.at === "decided" ? state.verdict.exchange : undefined;
}

/** How a state looks and sounds. */
export type Tone = "admitted" | "refused" | "question" | "undecided";

export function toneOf(state: ScanState): Tone | undefined {
  if (state.at === "unreadable") return "refused";
  if (state.at === "undecided") return "undecided";
  if (state.at !== "decided") return undefined;
  const { kind } = state.verdict;
  return kind === "admitted" || kind === "refused" ? kind : "question";
}
