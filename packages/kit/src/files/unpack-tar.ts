import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Writes the files of a tar archive that we ship, which has only plain files with short names. */
export async function unpackTar(archive: Buffer, folder: string): Promise<void> {
  for (let at = 0; at + 512 <= archive.length; ) {
    const text = (from: number, length: number) =>
      archive.toString("latin1", at + from, at + from + length).replace(/\0.*$/s, "");
    const name = text(0, 100);
    if (name === "") break;
    const size = Number.parseInt(text(124, 12), 8) || 0;
    if (/^[0\0]?$/.test(text(156, 1)) && !name.split("/").includes("..")) {
      const path = join(folder, name);
      await mkdir(dirname(path), { recursive: true, mode: 0o755 });
      await writeFile(path, archive.subarray(at + 512, at + 512 + size), { mode: 0o644 });
    }
    at += 512 + Math.ceil(size / 512) * 512;
  }
}
