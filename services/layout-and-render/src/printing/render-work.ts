import { randomUUID } from "node:crypto";
import { defineWork, json } from "@tessera/kit/jobs/work";
import type { Part } from "@tessera/protos/gen/ticketing/layout/v1/rendering";

/** The parts that are rendered into one file. */
export interface RenderOrder {
  readonly organizer: string;
  readonly event: string;
  /** A random UUID. */
  readonly file: string;
  readonly parts: readonly Part[];
  /** Whether parts that cannot be printed are left out instead of failing the whole. */
  readonly skipsFailed?: boolean;
}

/** The result of a rendering. */
export interface Rendered {
  readonly fileKey: string;
  readonly size: number;
  readonly warnings: readonly string[];
  /** The numbers of left-out parts, from 1. */
  readonly leftOut?: readonly number[];
}

const dayMs = 86_400_000;

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

/** A thousand tickets have some six megabytes, more with pictures; few have the fonts and the background of many. */
export function expectBytes(parts: number): number {
  return (256 + parts * 8) * kibibyte;
}

const definition = {
  payload: json<RenderOrder>(),
  result: json<Rendered>(),
  leaseMs: 30_000,
  // These tries are for killed workers: transient failures are retried within a try.
  tries: 3,
  keepMs: dayMs,
  mostWaiting: 2000,
  files: { mostBytes: 2048 * mebibyte, mostOfOne: 512 * mebibyte },
} as const;

/** Tickets that are rendered into one file. Organizers take fair turns. */
export const renderBatch = defineWork("render batch", { ...definition, atOnce: 3, atOnceEach: 2 });

/** The same for a few tickets, which never wait for files of a thousand. */
export const renderFew = defineWork("render few", { ...definition, atOnce: 4, atOnceEach: 3 });

/** The kinds of work that render files. */
export const renderWorks = [renderBatch, renderFew] as const;

const mostOfFew = 10;

/** The kind of work for a file of this size. */
export function workFor(parts: number): typeof renderBatch {
  return parts > mostOfFew ? renderBatch : renderFew;
}

/** The id of the work. Requests name event, job and file, and all three must match. */
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

/** The prefix of the ids of all work of an event. */
export function worksOf({ organizer, event }: { readonly organizer: string; readonly event: string }): string {
  return `${organizer}/${event}/`;
}

/** The folder of all rendered files in the file store. */
export const rendersPrefix = "renders/";

export function rendersOf({ organizer, event }: { readonly organizer: string; readonly event: string }): string {
  return `${rendersPrefix}${worksOf({ organizer, event })}`;
}

/** Draws the key of a rendered file, a new one for each try: a worker with an expired lease overwrites nothing. */
export function drawKey(id: string): string {
  return `${rendersPrefix}${id}/${randomUUID()}.pdf`;
}

const key = /^renders\/([^/]+\/[^/]+\/[0-9a-f-]{36}\/[0-9a-f-]{36})\/[0-9a-f-]{36}\.pdf$/;

/** The id of the work that a key belongs to; undefined for any other key. */
export function workAt(text: string): string | undefined {
  return key.exec(text)?.[1];
}
