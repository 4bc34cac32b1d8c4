import { randomBytes } from "node:crypto";
import type { Files } from "@tessera/kit/files/files";
import type { Queryable } from "@tessera/kit/pg/database";
import type { SentBackground } from "@tessera/protos/gen/ticketing/layout/v1/layouts";
import { isUuid } from "@tessera/values";
import type { Background } from "../domain/selection/layout.ts";
import { fault } from "../faults.ts";
import type { EventKey } from "../store/keys.ts";
import { findBackgrounds, findWithBackground } from "../store/stored-layouts.ts";

/** The folder of all backgrounds in the store for files. */
export const backgroundsPrefix = "backgrounds/";

/** The media type of every background. */
export const backgroundType = "application/pdf";

/** Draws the name of a background: 160 random bits, in hexadecimal. */
export function drawName(): string {
  return randomBytes(20).toString("hex");
}

export function keyOf(name: string): string {
  return `${backgroundsPrefix}${name}.pdf`;
}

const key = /^backgrounds\/([0-9a-f]{40})\.pdf$/;

/** The name of the background that a key belongs to; undefined for any other key. */
export function nameAt(text: string): string | undefined {
  return key.exec(text)?.[1];
}

/** Finds an upload in the file store, where the gateway has put it. */
export async function findUpload(files: Pick<Files, "get">, upload: string): ReturnType<Files["get"]> {
  return isUuid(upload) ? files.get(`uploads/${upload}`) : undefined;
}

/** Finds layouts whose background is missing from the file store. */
export async function findWithoutFile(
  db: Queryable,
  files: Pick<Files, "list">,
): Promise<(EventKey & { readonly id: number })[]> {
  // A file is stored before a layout names it, so the layouts are read first.
  const layouts = await findWithBackground(db);
  if (layouts.length === 0) return [];
  const stored = new Set<string>();
  for await (const { key } of files.list(backgroundsPrefix)) stored.add(key);
  const lacking = layouts.filter(({ background }) => !stored.has(keyOf(background)));
  // Some may have been replaced since the first read.
  const named = new Set(
    await findBackgrounds(
      db,
      lacking.map(({ background }) => background),
    ),
  );
  return lacking.filter(({ background }) => named.has(background));
}

/**
 * Copies an upload, which expires, into a file of its own. A layout names the file afterwards: if the process ends in
 * between, a job deletes the orphan.
 */
export async function copyBackground(
  files: Files,
  { upload, contentType, size, sha256 }: SentBackground,
): Promise<Background> {
  const found = contentType === backgroundType ? await findUpload(files, upload) : undefined;
  if (found === undefined) throw gone();
  const name = drawName();
  try {
    const copied = await files.put(keyOf(name), found.content, { contentType });
    if (copied.size !== size || copied.sha256 !== sha256) throw gone();
    return { name, ...copied };
  } finally {
    found.content.destroy();
  }
}

/** The error for an expired upload. */
export const noUpload = "You have sent no file of this id within a day.";

function gone() {
  return fault("background_gone", "The upload is gone.", { fields: { background: [noUpload] } });
}
