import { randomUUID } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Fault } from "@tessera/kit/fault";
import { makeFolder } from "@tessera/kit/files/make-folder";
import { isObject } from "@tessera/values";
import { fault } from "../faults.ts";

/** An unfinished run through the orders. */
export interface UnfinishedOrders {
  /** The mark from which the run began; undefined for the first run. */
  from: string | undefined;
  /** When its first page was generated. */
  generated: string | undefined;
  /** All orders up to this `datetime` are stored. */
  reached: string;
}

/** The progress of one event, or of an organizer, of one pretix for one platform. It holds no personal data and no secret. */
export interface SourceState {
  /** `Last-Modified` by list. */
  readonly validators: Map<string, string>;
  /** The instant from which the next run asks for changes, by list. */
  readonly marks: Map<string, string>;
  unfinishedOrders: UnfinishedOrders | undefined;
  /** Codes of orders that the platform rejected; the next run sends them again. */
  readonly rejectedOrders: Set<string>;
  /** Resent orders that were not rejected again so far. Not stored. */
  readonly retriedOrders: Set<string>;
  /** Too many orders were rejected for a list, so the mark does not move. */
  manyRejected: boolean;
  /** Dates of a series that have seats. */
  readonly seated: Set<number>;
}

/** Stores the progress between runs. */
export interface ImportState {
  of(source: { readonly organizer: string; readonly event: string }): SourceState;
  /** Writes the changes; the file is replaced as a whole. */
  save(): Promise<void>;
}

/** Opens the state file. Without one, or with `forget`, everything is new. */
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
      // Read again: another run may have changed the state of another event.
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
    // Refused below, like other invalid content.
  }
  throw unusable(`${path} is no state file of this version; remove it, or name another with --state`);
}

async function replaceFile(path: string, text: string): Promise<void> {
  const written = `${path}.${randomUUID()}`;
  try {
    await makeFolder(dirname(path));
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
