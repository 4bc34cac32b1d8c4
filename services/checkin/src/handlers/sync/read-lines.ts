import type { Db } from "@tessera/kit/pg/database";
import type { Asked, Cursor } from "../../wire/sync-cursor.ts";
import { readStep } from "./read-step.ts";

/** The lines behind a cursor, as many as an answer has. */
export interface Lines {
  readonly bytes: Buffer;
  readonly cursor: Cursor;
  /** There is nothing more to read now. */
  readonly isComplete: boolean;
}

/** Few enough that a reader sees progress, and that answers of many readers fit in memory. */
const enoughCharacters = 500_000;

/** An organizer may have thousands of events with little in each: who asks waits for eight seconds. */
const enoughMs = 1000;

/** Reads steps until an answer is full, or has taken long; undefined: the cursor is too old. */
export async function readLines(db: Db, asked: Asked, cursor: Cursor): Promise<Lines | undefined> {
  const lines: string[] = [];
  const until = performance.now() + enoughMs;
  let characters = 0;
  for (let from = cursor; ; ) {
    const step = await readStep(db, asked, from);
    if (step === undefined) return undefined;
    lines.push(...step.lines);
    characters += lengthOf(step.lines);
    from = step.cursor;
    if (step.isComplete || characters > enoughCharacters || performance.now() > until)
      return { bytes: Buffer.from(lines.join("")), cursor: from, isComplete: step.isComplete };
  }
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, { length }) => sum + length, 0);
}
