import { randomUUID } from "node:crypto";
import { defineWork, json } from "@tessera/kit/jobs/work";
import type { Part } from "@tessera/protos/gen/ticketing/layout/v1/rendering";

/** What is rendered into one file. */
export interface RenderOrder {
  readonly organizer: string;
  readonly event: string;
  /** A random UUID. */
  readonly file: string;
  readonly parts: readonly Part[];
  /** Whether parts that cannot be printed are left out, instead of failing the whole. */
  readonly skipsFailed?: boolean;
}

/** What became of it. */
export interface Rendered {
  readonly fileKey: string;
  readonly size: number;
  readonly warnings: readonly string[];
  /** Parts that the file lacks, by their numbers from 1. */
  readonly leftOut?: readonly number[];
}

const dayMs = 86_400_000;

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

/** A thousand tickets have some six megabytes, and more with pictures. Few have the fonts and the background of many. */
export function expectBytes(parts: number): number {
  return (256 + parts * 8) * kibibyte;
}

const definition = {
  payload: json<RenderOrder>(),
  result: json<Rendered>(),
  leaseMs: 30_000,
  // Of what passes by itself there are more within a try: these are for workers that end.
  tries: 3,
  keepMs: dayMs,
  mostWaiting: 2000,
  files: { mostBytes: 2048 * mebibyte, mostOfOne: 512 * mebibyte },
} as const;

/** Tickets that are rendered into one file. An organizer's jobs take turns with those of others, and leave them room. */
export const renderBatch = defineWork("render batch", { ...definition, atOnce: 3, atOnceEach: 2 });

/** The same for a few tickets, which never wait for files of a thousand. */
export const renderFew = defineWork("render few", { ...definition, atOnce: 4, atOnceEach: 3 });

/** What files are rendered by. */
export const renderWorks = [renderBatch, renderFew] as const;

const mostOfFew = 10;

/** The work that renders so many tickets. */
export function workFor(parts: number): typeof renderBatch {
  return parts > mostOfFew ? renderBatch : renderFew;
}

/** The id of the work: those who ask for it name the event, the job and its file, and all three must fit. */
export function renderId({
  organizer,
  event,
  job,
  file,
}: {
  readonly organizer: string;
  readonly event: string;
  readonly job: string;
  readonly file: string;
}): string {
  return [organizer, event, job, file].join("/");
}

/** What the ids of all work of an event begin with. */
export function worksOf({ organizer, event }: { readonly organizer: string; readonly event: string }): string {
  return `${organizer}/${event}/`;
}

/** The folder of all rendered files in the store for files. */
export const rendersPrefix = "renders/";

/** The folder of the files of an event. */
export function rendersOf({ organizer, event }: { readonly organizer: string; readonly event: string }): string {
  return `${rendersPrefix}${worksOf({ organizer, event })}`;
}

/** Draws the key of a rendered file. Each try has one of its own: a worker that has lost its lease overwrites nothing. */
export function drawKey(id: string): string {
  return `${rendersPrefix}${id}/${randomUUID()}.pdf`;
}

const key = /^renders\/([^/]+\/[^/]+\/[0-9a-f-]{36}\/[0-9a-f-]{36})\/[0-9a-f-]{36}\.pdf$/;

/** The id of the work that a key belongs to; undefined for any other key. */
export function workAt(text: string): string | undefined {
  return key.exec(text)?.[1];
}
