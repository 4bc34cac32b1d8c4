import type { Dedicated } from "../pg/database.ts";
import type { Log } from "../telemetry/log.ts";
import { header } from "./headers.ts";
import { deleteRefused, findRequested, keepRefused, type RefusedFact } from "./refused-facts.ts";
import type { Batch } from "./relay-batch.ts";
import type { Publications } from "./relay-publications.ts";

interface ReplaysOptions {
  readonly log: Log;
  readonly publications: Publications;
  readonly lanes: number;
}

/** Requested replays of refused facts wait this long. */
const replayMs = 1000;

/** The refused facts whose replay is requested, on their way into publications. */
export class RelayReplays {
  readonly #options: ReplaysOptions;
  /** By `performance.now`. */
  #dueAt = 0;

  constructor(options: ReplaysOptions) {
    this.#options = options;
  }

  async publish(connection: Dedicated): Promise<void> {
    const { publications, lanes } = this.#options;
    if (!publications.isAnyRefused || performance.now() < this.#dueAt) return;
    this.#dueAt = performance.now() + replayMs;
    for (const fact of await findRequested(connection, lanes))
      if (!publications.isHeld(fact)) publications.begin(connection, this.#toBatch(fact));
  }

  #toBatch({ id, topic, lane, message }: RefusedFact): Batch {
    const { log } = this.#options;
    const factId = message.headers[header.factId];
    return {
      topic,
      lane,
      messages: [message],
      done: async (connection) => {
        await deleteRefused(connection, id);
        // The next one of the same lane.
        this.#dueAt = 0;
        log.info("parked fact replayed", { topic, factId });
      },
      refused: async (connection, error) => {
        await keepRefused(connection, id, error);
        this.#dueAt = 0;
        log.warn("a parked fact failed again", { topic, factId, error });
      },
    };
  }
}
