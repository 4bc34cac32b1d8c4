import { rename, writeFile } from "node:fs/promises";

/** Writes a file for this user alone. It is renamed into place, so that a file that exists is complete. */
export async function replaceFile(path: string, content: string): Promise<void> {
  await writeFile(`${path}.new`, content, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
