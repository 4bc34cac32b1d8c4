import { isUuid } from "@tessera/values";

const folder = "uploads/";

/** The folder of all uploads in the file store. */
export const uploadsPrefix = folder;

/** The key of an upload's file. It contains the random id, so it cannot be guessed. */
export function keyOf(id: string): string {
  return folder + id;
}

/** The upload whose file a key names, or undefined for any other key. */
export function idAt(key: string): string | undefined {
  const id = key.slice(folder.length);
  return key.startsWith(folder) && isUuid(id) ? id : undefined;
}
