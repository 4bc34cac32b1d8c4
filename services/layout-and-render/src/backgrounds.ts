import { randomBytes } from "node:crypto";
import type { Files } from "@tessera/kit/files/files";
import type { SentBackground } from "@tessera/protos/gen/ticketing/layout/v1/layouts";
import { isUuid } from "@tessera/values";
import type { Background } from "./domain/selection/layout.ts";
import { fault } from "./faults.ts";

/** The folder of all backgrounds in the store for files. */
export const backgroundsPrefix = "backgrounds/";

/** Every background is of this type. */
export const backgroundType = "application/pdf";

/** Draws the name of a background: 160 bits, in hexadecimal. */
export function drawName(): string {
  return randomBytes(20).toString("hex");
}

/** The key of a background in the store for files. */
export function keyOf(name: string): string {
  return `${backgroundsPrefix}${name}.pdf`;
}

const key = /^backgrounds\/([0-9a-f]{40})\.pdf$/;

/** The name of the background that a key belongs to; undefined for any other key. */
export function nameAt(text: string): string | undefined {
  return key.exec(text)?.[1];
}

/** Finds an upload in the store for files, where the gateway has put it. */
export async function findUpload(files: Pick<Files, "get">, upload: string): ReturnType<Files["get"]> {
  return isUuid(upload) ? files.get(`uploads/${upload}`) : undefined;
}

/**
 * Copies an upload, which expires, into a file of its own. A layout names it afterwards; a process that ends in between
 * leaves a file without a layout, and a job deletes it.
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

function gone() {
  return fault("background_gone", "The upload is gone.", {
    fields: { background: ["The submitted file ID was not found."] },
  });
}
