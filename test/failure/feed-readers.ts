import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { Dice } from "@tessera/testkit/dice";
import { event, eventPath } from "../e2e/sample-records.ts";
import { deviceKey, type Edition } from "./festival.ts";
import { describeFailure } from "./import-until-answered.ts";
import type { Attempt } from "./scan-history.ts";

/** Gates that follow the sync feed, and whose connections break at any moment. */
export interface FeedReaders {
  /** Answers that no gate may get, and what a gate missed or was told wrongly. */
  readonly oddities: readonly string[];
  /** How many answers came to their end, were cut off, were refused, and how often a gate had to begin again. */
  readonly counts: Readonly<Record<Ending, number>>;
  /** Reads on behind the last cursor: the gate now has the tickets of this edition, and no other. */
  compare(edition: Edition): Promise<void>;
  /** Begins nothing more; each gate reads to the end, and has what a new one reads. */
  close(): Promise<void>;
}

export interface FeedReadersOptions {
  /** One per process; the gates take turns. */
  readonly baseUrls: readonly [string, ...string[]];
  readonly dice: Dice;
  readonly count: number;
  /** What other gates have scanned, in the order of the answers. */
  readonly attempts: readonly Attempt[];
  /** These tickets are never deleted, and neither are their scans. */
  readonly lasting: ReadonlySet<number>;
  /** Whether a connection may break or be refused before an answer, because the platform itself is killed. */
  readonly connectionsMayBreak: boolean;
}

type Ending = "ended" | "cut" | "refused" | "begun again";

/** After this time an answer hangs. */
const longestAnswerMs = 90_000;

/** After this time a gate gives up: nothing came to its end. */
const patienceMs = 300_000;

const retryPauseMs = 100;

/** The feed shows so many scans of a presence. */
const mostScans = 100;

export function openFeedReaders(options: FeedReadersOptions): FeedReaders {
  const { baseUrls, dice, count, connectionsMayBreak } = options;
  const oddities: string[] = [];
  /** Once: who has missed something is asked about it again and again. */
  const note = (found: readonly string[]) => oddities.push(...found.filter((text) => !oddities.includes(text)));
  const counts: Record<Ending, number> = { ended: 0, cut: 0, refused: 0, "begun again": 0 };
  const closing = new AbortController();
  const admitted = new AdmittedScans(options);

  /** Sends one request, and reads the answer as far as it comes. */
  async function ask(reader: FeedReader, baseUrl: string, { wait = 0, isStream = false, signal }: Asked = {}) {
    const isDue = wait === 0 && !isStream ? admitted.untilNow() : undefined;
    const ending = await reader.ask(baseUrl, { wait, isStream, signal, connectionsMayBreak });
    if (typeof ending !== "string") {
      note([ending.oddity]);
      return "refused";
    }
    counts[ending] += 1;
    if (ending === "ended" && isDue !== undefined) note(isDue.flatMap((due) => reader.findMissed(due)));
    return ending;
  }

  async function readToEnd(reader: FeedReader, baseUrl?: string): Promise<void> {
    const until = performance.now() + patienceMs;
    for (let tried = 0; performance.now() < until; tried += 1) {
      const ending = await ask(reader, baseUrl ?? baseUrls[tried % baseUrls.length] ?? baseUrls[0]);
      if (ending === "ended") return;
      await sleep(retryPauseMs);
    }
    note(["a gate never came to the end of the feed"]);
  }

  async function follow(reader: FeedReader, own: Dice): Promise<void> {
    while (!closing.signal.aborted) {
      const isStream = own.chance(25);
      const breaksAfterMs = isStream ? own.below(2000) : own.chance(40) ? own.below(300) : longestAnswerMs;
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(breaksAfterMs)]);
      const ending = await ask(reader, own.pick(baseUrls), { wait: own.pick([0, 0, 1, 5]), isStream, signal });
      await sleep(ending === "refused" ? retryPauseMs : own.below(50));
    }
  }

  const readers = Array.from({ length: count }, () => new FeedReader());
  const working = readers.map((reader) => follow(reader, dice.fork()));
  const comparing = new FeedReader();
  return {
    oddities,
    counts,
    async compare(edition) {
      await readToEnd(comparing);
      note(comparing.compareTickets(edition));
    },
    async close() {
      closing.abort();
      await Promise.all(working);
      for (const baseUrl of baseUrls) {
        const copy = new FeedReader();
        await readToEnd(copy, baseUrl);
        for (const reader of [...readers, comparing]) {
          await readToEnd(reader, baseUrl);
          note(reader.compare(copy));
        }
      }
    },
  };
}

interface Asked {
  readonly wait?: number;
  /** Server-Sent Events. */
  readonly isStream?: boolean;
  /** Breaks the connection. */
  readonly signal?: AbortSignal | undefined;
}

/** A ticket on a list, with how many of its scans were answered as admitted. */
interface Due {
  readonly list: number;
  readonly position: number;
  readonly nonces: ReadonlySet<string>;
}

/** The scans of lasting tickets that were answered as admitted. */
class AdmittedScans {
  readonly #options: Pick<FeedReadersOptions, "attempts" | "lasting">;
  readonly #places = new Map<string, Due & { readonly nonces: Set<string> }>();
  #read = 0;

  constructor(options: Pick<FeedReadersOptions, "attempts" | "lasting">) {
    this.#options = options;
  }

  untilNow(): Due[] {
    const { attempts, lasting } = this.#options;
    for (const { scan, outcome } of attempts.slice(this.#read)) {
      if (outcome.kind !== "admitted" || !lasting.has(scan.position)) continue;
      const { list, position } = scan;
      const key = `${position}/${list}`;
      const place = this.#places.get(key) ?? { list, position, nonces: new Set() };
      place.nonces.add(scan.nonce);
      this.#places.set(key, place);
    }
    this.#read = attempts.length;
    return [...this.#places.values()].map((place) => ({ ...place, nonces: new Set(place.nonces) }));
  }
}

interface Line {
  readonly kind: string;
  readonly event?: string;
  readonly id: number;
  readonly list?: number;
  readonly cursor?: string;
  readonly deleted?: true;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** One gate: it keeps of each entity the last line, and the last cursor. */
class FeedReader {
  readonly #held = new Map<string, Line["data"]>();
  #cursor = "";

  async ask(
    baseUrl: string,
    { wait, isStream, signal, connectionsMayBreak }: Asked & { readonly connectionsMayBreak: boolean },
  ): Promise<Ending | { readonly oddity: string }> {
    const query = new URLSearchParams({ events: event, wait: String(wait), after: this.#cursor });
    let response: Response;
    try {
      response = await fetch(`${baseUrl}${eventPath.split("/events/")[0]}/sync/?${query}`, {
        headers: { authorization: `Device ${deviceKey}`, ...(isStream && { accept: "text/event-stream" }) },
        signal: AbortSignal.any([AbortSignal.timeout(longestAnswerMs), ...(signal ? [signal] : [])]),
      });
    } catch (error) {
      if (signal?.aborted) return "cut";
      return connectionsMayBreak
        ? "refused"
        : { oddity: `the connection of a gate was refused: ${describeFailure(error)}` };
    }
    try {
      if (response.status === 200) {
        for await (const lines of isStream ? readEvents(response) : readLines(response)) this.#take(lines);
        return "ended";
      }
      const text = await response.text();
      if (response.status === 410) {
        this.#held.clear();
        this.#cursor = "";
        return "begun again";
      }
      const mayComeAgain = [429, 503].includes(response.status) && response.headers.has("retry-after");
      return mayComeAgain ? "refused" : { oddity: `the feed is answered ${response.status} ${text.slice(0, 300)}` };
    } catch (error) {
      return error instanceof SyntaxError ? { oddity: `a line of the feed is none: ${error.message}` } : "cut";
    }
  }

  /** A cursor stands behind the lines that it is for; a copy has what there is, and nothing else. */
  #take({ lines, cursor }: Part): void {
    for (const text of lines) {
      const { kind, event: of, id, list, deleted, data, cursor: behind } = JSON.parse(text) as Line;
      if (kind === "cursor") this.#cursor = behind ?? "";
      else if (deleted) this.#held.delete(`${kind}/${of}/${id}/${list}`);
      else this.#held.set(`${kind}/${of}/${id}/${list}`, data);
    }
    if (cursor !== undefined) this.#cursor = cursor;
  }

  /** What was admitted before the request is in its answer. */
  findMissed({ list, position, nonces }: Due): string[] {
    const scans = this.#held.get(`presence/${event}/${position}/${list}`)?.["scans"];
    const told = Array.isArray(scans) ? scans.length : 0;
    return told >= Math.min(nonces.size, mostScans)
      ? []
      : [`of position ${position} on list ${list} a gate knows ${told} scans, and ${nonces.size} were admitted before`];
  }

  compareTickets({ positions }: Edition): string[] {
    // What an order no longer has is canceled, unless all of it is deleted.
    const tickets = [...this.#held].filter(([key, data]) => key.startsWith("ticket/") && data?.["canceled"] === false);
    const told = new Map(tickets.map(([key, data]) => [Number(key.split("/")[2]), data]));
    const dead = [...told.keys()].filter((id) => !positions.has(id));
    const old = [...positions].filter(([id, wanted]) => {
      const { order, secret, attendee_name, item, variation } = told.get(id) ?? {};
      const { id: _, ...fields } = wanted;
      return !isDeepStrictEqual({ order, secret, attendee_name, item, variation }, { ...fields });
    });
    return [
      ...(dead.length > 0 ? [`after an import, ${dead.length} tickets live on in the feed: ${dead[0]}`] : []),
      ...(old.length > 0 ? [`after an import, ${old.length} tickets are out of date in the feed: ${old[0]?.[0]}`] : []),
    ];
  }

  compare(copy: FeedReader): string[] {
    const keys = new Set([...this.#held.keys(), ...copy.#held.keys()]);
    const different = [...keys].filter((key) => !isDeepStrictEqual(this.#held.get(key), copy.#held.get(key)));
    return different.length === 0
      ? []
      : [
          `a gate has ${different.length} entities otherwise than a new one: ${this.#differenceFrom(copy, different[0])}`,
        ];
  }

  #differenceFrom(copy: FeedReader, key = ""): string {
    return `${key} is ${JSON.stringify(this.#held.get(key))}, and not ${JSON.stringify(copy.#held.get(key))}`;
  }
}

interface Part {
  readonly lines: readonly string[];
  readonly cursor?: string;
}

async function* readPieces(response: Response, separator: string): AsyncGenerator<string> {
  let open = "";
  for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const pieces = (open + text).split(separator);
    open = pieces.pop() ?? "";
    yield* pieces;
  }
}

async function* readLines(response: Response): AsyncGenerator<Part> {
  for await (const line of readPieces(response, "\n")) yield { lines: [line] };
}

async function* readEvents(response: Response): AsyncGenerator<Part> {
  for await (const text of readPieces(response, "\n\n")) {
    const fields = text.split("\n");
    const valuesOf = (name: string) =>
      fields.filter((field) => field.startsWith(`${name}: `)).map((field) => field.slice(name.length + 2));
    const [cursor] = valuesOf("id");
    yield { lines: valuesOf("data"), ...(cursor === undefined ? {} : { cursor }) };
  }
}
