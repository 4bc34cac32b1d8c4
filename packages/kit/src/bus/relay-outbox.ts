import { setImmediate as nextTurn } from "node:timers/promises";
import type { Dedicated } from "../pg/database.ts";
import type { Log } from "../telemetry/log.ts";
import type { IsErased } from "./dead-letter.ts";
import { idleMs } from "./idle-time.ts";
import { deleteRows, type OutboxRow, readRows } from "./outbox-rows.ts";
import { deadLetterRow, deleteReplaced, endsRebuild } from "./refused-facts.ts";
import type { Batch, TopicLane } from "./relay-batch.ts";
import type { Publications } from "./relay-publications.ts";

interface OutboxOptions {
  readonly schema: string;
  readonly log: Log;
  readonly publications: Publications;
  readonly lanes: number;
  readonly isErased: IsErased;
  /** The topics of states: a later fact of a key replaces the earlier ones. */
  readonly states: ReadonlySet<string>;
  readonly batchSize: number;
  readonly batchBytes: number;
}

/** The rows of an outbox, on their way into publications. */
export class RelayOutbox {
  readonly #options: OutboxOptions;
  /** When topics may be read around their busy lanes again. */
  readonly #dueAt = new Map<string, number>();
  readonly #deletions = new Map<string, { readonly rows: OutboxRow[]; readonly done: Promise<void> }>();

  constructor(options: OutboxOptions) {
    this.#options = options;
  }

  /** Begins to publish rows of a topic; returns whether there may be more. */
  async publish(connection: Dedicated, topic: string): Promise<boolean> {
    const { publications, lanes, batchSize, batchBytes } = this.#options;
    const without = publications.heldLanes(topic);
    const looked = performance.now();
    if (without.size === lanes || (without.size > 0 && looked < (this.#dueAt.get(topic) ?? 0))) return false;
    const { rows, isMore } = await readRows(connection, {
      topic,
      lanes,
      without,
      most: batchSize,
      mostBytes: batchBytes,
    });
    if (without.size > 0) this.#dueAt.set(topic, performance.now() + idleMs(performance.now() - looked));
    let isCut = false;
    for (const [lane, ofLane] of Map.groupBy(rows, (row) => row.lane)) {
      const batch = this.#cut(ofLane, { topic, lane });
      isCut ||= batch.length < ofLane.length;
      publications.begin(connection, this.#toBatch(batch, { topic, lane }));
    }
    return isMore || isCut;
  }

  /** The marker that ends a rebuild is published alone while facts are refused: the marker may be refused, too. */
  #cut(rows: readonly OutboxRow[], lane: TopicLane): readonly OutboxRow[] {
    const { publications } = this.#options;
    const part = rows.slice(0, publications.sizeOf(lane));
    const end = publications.mayBeRefused(lane.topic) ? part.findIndex(({ message }) => endsRebuild(message)) : -1;
    return end < 0 ? part : part.slice(0, Math.max(1, end));
  }

  #toBatch(rows: readonly OutboxRow[], lane: TopicLane): Batch {
    const { schema, log, isErased } = this.#options;
    return {
      ...lane,
      messages: rows.map(({ message }) => message),
      done: (connection) => this.#deleteTogether(connection, lane.topic, rows),
      async refused(connection, error) {
        for (const row of rows) {
          await deadLetterRow(connection, row, { error, isErased });
          const { topic, factId } = row;
          log.error("fact parked: the bus refuses it", { schema, topic, factId, error });
        }
      },
    };
  }

  /** Publications of a topic that end at the same time are deleted by one statement. */
  #deleteTogether(connection: Dedicated, topic: string, rows: readonly OutboxRow[]): Promise<void> {
    const { publications, states } = this.#options;
    let deletion = this.#deletions.get(topic);
    if (deletion === undefined) {
      const all: OutboxRow[] = [];
      const run = async () => {
        await nextTurn();
        this.#deletions.delete(topic);
        if (publications.mayBeRefused(topic) && states.has(topic)) await deleteReplaced(connection, topic, all);
        await deleteRows(connection, topic, all);
      };
      deletion = { rows: all, done: run() };
      this.#deletions.set(topic, deletion);
    }
    deletion.rows.push(...rows);
    return deletion.done;
  }
}
