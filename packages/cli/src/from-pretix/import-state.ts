import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Fault } from "@tessera/kit/fault";
import { isObject } from "@tessera/values";
import { fault } from "../faults.ts";

/** A run through the orders that has not come to its end. */
export interface UnfinishedOrders {
  /** The mark that the run began from; none for the first run. */
  from: string | undefined;
  /** When its first page was made. */
  generated: string | undefined;
  /** Everything up to this `datetime` is stored. */
  reached: string;
}

/** What is remembered of one event, or of an organizer, of one pretix for one platform. It names nobody and holds no secret. */
export interface SourceState {
  /** `Last-Modified` by list. */
  readonly validators: Map<string, string>;
  /** From when on a list is to be asked for changes, by list. */
  readonly marks: Map<string, string>;
  unfinishedOrders: UnfinishedOrders | undefined;
  /** Codes of orders that the platform rejected; they are tried again. */
  readonly rejectedOrders: Set<string>;
  /** Those of them that this run tries again, and that were not rejected once more so far. Not kept. */
  readonly retriedOrders: Set<string>;
  /** More orders were rejected than are worth a list: the mark stays where it is. */
  manyRejected: boolean;
  /** Dates of a series that have seats. */
  readonly seated: Set<number>;
}

/** Remembers between runs how far they came. */
export interface ImportState {
  of(source: { readonly organizer: string; readonly event: string }): SourceState;
  /** Writes what has changed since; a file that is there is always whole. */
  save(): Promise<void>;
}

/** Opens the file in which runs leave their marks; where there is none, or `forget` is set, everything is new. */
export async function openImportState(options: {
  readonly path: string;
  readonly pretix: string;
  readonly platform: string;
  readonly forget: boolean;
}): Promise<ImportState> {
  const { path } = options;
  const states = new Map<string, SourceState>();
  const sources = await readSources(path);
  return {
    of({ organizer, event }) {
      const key = `${options.pretix} ${organizer}/${event} > ${options.platform}`;
      const state = states.get(key) ?? toState(options.forget ? undefined : sources[key]);
      states.set(key, state);
      return state;
    },
    async save() {
      // Read anew: another run may be at work on another event.
      const latest = await readSources(path);
      for (const [key, state] of states) latest[key] = fromState(state);
      await replaceFile(path, `${JSON.stringify({ version: 1, sources: latest }, undefined, 1)}\n`);
    },
  };
}

async function readSources(path: string): Promise<Record<string, unknown>> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    throw unusable(`the state file ${path} cannot be read; name another with --state`, error);
  }
  try {
    const file: unknown = JSON.parse(text);
    if (isObject(file) && file["version"] === 1 && isObject(file["sources"])) return { ...file["sources"] };
  } catch {
    // Answered below, as any other content.
  }
  throw unusable(`${path} is no state file of this version; remove it, or name another with --state`);
}

async function replaceFile(path: string, text: string): Promise<void> {
  const written = `${path}.${randomUUID()}`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(written, text, { flag: "wx", mode: 0o600, flush: true });
    await rename(written, path);
  } catch (error) {
    throw unusable(`the state file ${path} cannot be written; name another with --state`, error);
  }
}

function unusable(message: string, cause?: unknown): Fault {
  return fault("state_file_unusable", message, { cause });
}

function toState(kept: unknown): SourceState {
  const read = isObject(kept) ? kept : {};
  const unfinished = isObject(read["unfinishedOrders"]) ? read["unfinishedOrders"] : {};
  const { from, generated, reached } = unfinished;
  return {
    validators: textsByName(read["validators"]),
    marks: textsByName(read["marks"]),
    unfinishedOrders:
      typeof reached === "string" ? { from: textOrNone(from), generated: textOrNone(generated), reached } : undefined,
    rejectedOrders: new Set(listOf(read["rejectedOrders"]).filter((code) => typeof code === "string")),
    retriedOrders: new Set(),
    manyRejected: read["manyRejected"] === true,
    seated: new Set(listOf(read["seated"]).filter((id) => typeof id === "number")),
  };
}

function fromState(state: SourceState): unknown {
  return {
    validators: Object.fromEntries(state.validators),
    marks: Object.fromEntries(state.marks),
    unfinishedOrders: state.unfinishedOrders,
    rejectedOrders: [...state.rejectedOrders],
    manyRejected: state.manyRejected,
    seated: [...state.seated],
  };
}

function textsByName(value: unknown): Map<string, string> {
  const entries = isObject(value) ? Object.entries(value) : [];
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

function textOrNone(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
