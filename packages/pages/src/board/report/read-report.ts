import { type Signal, signal } from "@preact/signals";
import { ask, askAll } from "../server.ts";
import type { Report } from "./report.ts";

/** Which report is asked for. Undefined: of the last day with scans, and of all lists. */
export interface AskedReport {
  readonly date?: string | undefined;
  readonly list?: number | undefined;
}

export type ReportState =
  | { readonly at: "reading" | "away" }
  | { readonly at: "refused"; readonly detail: string }
  | { readonly at: "read"; readonly report: Report };

export interface NamedList {
  readonly id: number;
  readonly name: string;
}

export interface ReadReport {
  readonly asked: AskedReport;
  readonly state: Signal<ReportState>;
  /** The lists to choose from. */
  readonly lists: Signal<readonly NamedList[]>;
  end(): void;
}

const retryMs = 3000;

/** A report of a large event takes some seconds, and waits for the one before. */
const timeoutMs = 90_000;

/** The query of a report, to be read or opened. */
export function queryOf({ date, list }: AskedReport, format?: "csv" | "pdf"): string {
  const query = new URLSearchParams();
  if (date !== undefined) query.set("date", date);
  if (list !== undefined) query.set("list", String(list));
  if (format !== undefined) query.set("format", format);
  return query.size === 0 ? "" : `?${query}`;
}

/** Reads a report, and tries again until the server answers. */
export function readReport(inEvent: string, asked: AskedReport, onSignedOut: () => void): ReadReport {
  const state = signal<ReportState>({ at: "reading" });
  const lists = signal<readonly NamedList[]>([]);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ended = new AbortController();

  async function read(): Promise<void> {
    const answer = await ask<Report>(`${inEvent}/checkins/report/${queryOf(asked)}`, {
      timeoutMs,
      signal: ended.signal,
    });
    if (ended.signal.aborted) return;
    if (answer.kind === "success") state.value = { at: "read", report: answer.body };
    else if (answer.kind === "away") {
      state.value = { at: "away" };
      timer = setTimeout(() => void read(), retryMs);
    } else if (answer.status === 401) onSignedOut();
    else state.value = { at: "refused", detail: answer.detail };
  }

  async function readLists(): Promise<void> {
    const answer = await askAll<NamedList>(`${inEvent}/checkinlists/?ordering=name`);
    if (answer.kind === "listed") lists.value = answer.results;
  }

  void read();
  void readLists();
  return {
    ...{ asked, state, lists },
    end() {
      // An abandoned request would block the next one: an organizer has one report made at a time.
      ended.abort();
      clearTimeout(timer);
    },
  };
}
