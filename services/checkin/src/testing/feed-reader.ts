import type { Client } from "@tessera/kit/rpc";
import type { ReadChangesRequest } from "@tessera/protos/gen/ticketing/checkin/v1/sync";
import type { Sync } from "@tessera/protos/services";

export interface FeedLine {
  readonly kind: string;
  readonly event?: string;
  readonly id: number;
  readonly list?: number;
  readonly deleted?: true;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** A gate that follows the feed, and has of each entity what its last line says. */
export class FeedReader {
  readonly #sync: Client<typeof Sync>;
  readonly #asked: Pick<ReadChangesRequest, "organizer" | "among"> & { readonly hashed?: boolean };
  readonly held = new Map<string, FeedLine["data"]>();
  cursor = "";

  constructor(
    sync: Client<typeof Sync>,
    asked: Pick<ReadChangesRequest, "organizer" | "among"> & { readonly hashed?: boolean },
  ) {
    [this.#sync, this.#asked] = [sync, asked];
  }

  /** Reads one answer. Lost: the answer came, but the gate was cut off before it stored the cursor. */
  async read({ waitMs = 0, isLost = false } = {}): Promise<{ lines: FeedLine[]; isComplete: boolean }> {
    // A copy names what there is; what is gone since an earlier one it cannot tell.
    if (this.cursor === "") this.held.clear();
    const { lines, cursor, isComplete } = await this.#sync.readChanges(
      { hashed: false, ...this.#asked, mustExist: false, after: this.cursor, waitMs },
      { timeoutMs: waitMs + 20_000 },
    );
    const read = parseLines(lines);
    for (const line of read) this.#hold(line);
    if (!isLost) this.cursor = cursor;
    return { lines: read, isComplete: isComplete && !isLost };
  }

  /** Reads until there is nothing more. */
  async readAll(): Promise<FeedLine[]> {
    const all: FeedLine[] = [];
    for (;;) {
      const { lines, isComplete } = await this.read();
      all.push(...lines);
      if (isComplete) return all;
    }
  }

  #hold({ kind, event, id, list, deleted, data }: FeedLine): void {
    const key = [kind, event, id, list].filter((part) => part !== undefined).join("/");
    if (deleted) this.held.delete(key);
    else this.held.set(key, data);
  }
}

function parseLines(lines: Uint8Array): FeedLine[] {
  return Buffer.from(lines)
    .toString()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as FeedLine);
}
