import { Turns } from "@tessera/kit/waiting/turns";
import type { Clients } from "../../clients.ts";
import { eventUrl } from "../../http/event-url.ts";
import { type AskFor, type Asking, askBeside } from "./ask-beside.ts";

/** The printed variables, by ticket. A missing ticket has none yet. */
export type PdfData = ReadonlyMap<number, Readonly<Record<string, unknown>>>;

/** Reads the printed variables of tickets. */
export type ReadPdfData = AskFor<PdfData>;

/** A visitor waits, and only a badge needs the variables. */
const longestMs = 500;

const limits = { mostAtOnce: 16, mostOfOne: 8 };

/** As many as one call answers; a page of orders has more tickets. */
const mostPositions = 100;

/** No visitor waits while orders are copied, and nothing repairs what a copy lacks. */
const ofPages = { longestMs: 5000, tries: 2 };
const turnsOfPages = { total: 4, each: 2, waitMs: 20_000 };

type Evaluating = Pick<Clients["rendering"], "evaluateVariables">;

/** Reads the printed variables of tickets: after half a second without an answer these are shown without. */
export function pdfDataReader({ rendering }: { readonly rendering: Evaluating }): ReadPdfData {
  const nothing: PdfData = new Map();
  return askBeside((request, positions) => read(rendering, request, { positions, longestMs, tries: 1 }), {
    ...limits,
    nothing,
  });
}

/** Reads the printed variables of all tickets of a page of orders. What stays unanswered is missing. */
export function pagePdfDataReader({ rendering }: { readonly rendering: Evaluating }): ReadPdfData {
  const turns = new Turns({ ...turnsOfPages, busy: () => new Error("too many pages are read") });
  return async (request, positions) => {
    const data = new Map<number, Readonly<Record<string, unknown>>>();
    const readAll = () => read(rendering, request, { positions, ...ofPages, data });
    // A page without variables brings the tickets all the same.
    return turns.run({ party: request.organizer, amount: 1 }, readAll).catch(() => data);
  };
}

interface Reading {
  readonly positions: readonly number[];
  readonly longestMs: number;
  readonly tries: number;
  /** Holds what has been read, also where a question fails. */
  readonly data?: Map<number, Readonly<Record<string, unknown>>>;
}

async function read(
  rendering: Evaluating,
  request: Asking,
  { positions, longestMs: timeoutMs, tries, data = new Map() }: Reading,
): Promise<PdfData> {
  const ask = async (asked: readonly number[]) => {
    for (let left = tries; ; left -= 1) {
      try {
        return await rendering.evaluateVariables(request.inEvent({ positions: [...asked] }), { timeoutMs });
      } catch (error) {
        if (left <= 1) throw error;
      }
    }
  };
  for (let at = 0; at < positions.length; at += mostPositions) {
    const { tickets } = await ask(positions.slice(at, at + mostPositions));
    for (const { position, texts, images } of tickets) {
      const urls = Object.entries(images).map(([name, { question, owner }]): [string, string | null] => [
        name,
        owner === 0 ? null : eventUrl(request, "orderpositions", owner, "answer", question),
      ]);
      data.set(position, { ...texts, images: Object.fromEntries(urls) });
    }
  }
  return data;
}
