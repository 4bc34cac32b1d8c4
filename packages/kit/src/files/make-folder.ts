import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it, and returns the first one that it made; undefined: the folder was there.
 *
 * Node's `recursive` tries again for ever, and nothing ends it, where a file system says of a new folder that its path does
 * not exist: below `/proc`, for instance.
 */
export async function makeFolder(
  path: string,
  { mode }: { readonly mode?: number | undefined } = {},
): Promise<string | undefined> {
  try {
    return await makeOne(path, mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(path) === path) throw error;
  }
  const first = await makeFolder(dirname(path), { mode });
  const made = await makeOne(path, mode);
  return first ?? made;
}

async function makeOne(path: string, mode: number | undefined): Promise<string | undefined> {
  try {
    await mkdir(path, { mode });
    return path;
  } catch (error) {
    // Another process may have made it at the same moment.
    if (
      await stat(path).then(
        (found) => found.isDirectory(),
        () => false,
      )
    )
      return undefined;
    throw error;
  }
}
