import { backoff } from "@tessera/kit/waiting/backoff";
import type { Clients } from "../../clients.ts";
import type { Incoming } from "../../http/route.ts";
import { answerUrl } from "./position-url.ts";

/** The printed variables, by ticket. A missing ticket has none yet. */
export type PdfData = ReadonlyMap<number, Readonly<Record<string, unknown>>>;

/** Reads the printed variables of tickets. */
export type ReadPdfData = (request: Asking, positions: readonly number[]) => Promise<PdfData>;

type Asking = Pick<Incoming, "organizer" | "event" | "url" | "inEvent">;

/** A visitor waits, and only a badge needs the variables. */
const longestMs = 500;

/** Concurrent requests of one process, and of one organizer; further ones are not sent. */
const mostAtOnce = 16;
const mostOfOne = 8;

/** After this many consecutive failures the circuit breaker of the organizer opens. */
const mostFailures = 3;

/** How long it stays open until the next probe. */
const rests = { firstMs: 1000, longestMs: 30_000 };

/** As many as one call answers; a page of orders has more tickets. */
const mostPositions = 100;

type Evaluating = Pick<Clients["rendering"], "evaluateVariables">;

/** The circuit breaker of an organizer. */
interface Experience {
  asking: number;
  failures: number;
  /** On the clock of the process. */
  restsUntil: number;
}

/**
 * Reads the printed variables of tickets. Scans come first: after half a second without an answer, and beyond the limit
 * of concurrent requests, tickets are shown without variables. While the circuit breaker is open no scan waits: probes
 * are sent whose answers no request needs.
 */
export function pdfDataReader({ rendering }: { readonly rendering: Evaluating }): ReadPdfData {
  const experiences = new Map<string, Experience>();
  let asking = 0;

  async function ask(one: Experience, request: Asking, positions: readonly number[]): Promise<PdfData> {
    asking += 1;
    one.asking += 1;
    try {
      const data = await read(rendering, request, positions);
      one.failures = 0;
      return data;
    } catch {
      one.failures += 1;
      const over = one.failures - mostFailures;
      if (over >= 0) one.restsUntil = performance.now() + backoff(rests, over + 1);
      return new Map();
    } finally {
      asking -= 1;
      one.asking -= 1;
      // The initial state need not be stored.
      if (one.asking === 0 && one.failures === 0) experiences.delete(request.organizer);
    }
  }

  return async (request, positions) => {
    if (positions.length === 0) return new Map();
    const one = experiences.get(request.organizer) ?? { asking: 0, failures: 0, restsUntil: 0 };
    if (asking >= mostAtOnce || one.asking >= mostOfOne) return new Map();
    experiences.set(request.organizer, one);
    if (one.failures < mostFailures) return ask(one, request, positions);
    if (one.asking === 0 && performance.now() >= one.restsUntil) void ask(one, request, positions);
    return new Map();
  };
}

async function read(rendering: Evaluating, request: Asking, positions: readonly number[]): Promise<PdfData> {
  const { organizer, event, url } = request;
  const place = { base: url.base, organizer, event };
  const data = new Map<number, Readonly<Record<string, unknown>>>();
  for (let at = 0; at < positions.length; at += mostPositions) {
    const { tickets } = await rendering.evaluateVariables(
      request.inEvent({ positions: positions.slice(at, at + mostPositions) }),
      { timeoutMs: longestMs },
    );
    for (const { position, texts, images } of tickets) {
      const urls = Object.entries(images).map(([name, { question, owner }]): [string, string | null] => [
        name,
        owner === 0 ? null : answerUrl(place, owner, question),
      ]);
      data.set(position, { ...texts, images: Object.fromEntries(urls) });
    }
  }
  return data;
}
