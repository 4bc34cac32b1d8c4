import { Readable } from "node:stream";
import type { Files } from "@tessera/kit/files/files";
import { type ExportEntry, type ExportFile, ExportShape } from "@tessera/protos/gen/platform/v1/personal_data";
import { ZipFile } from "yazl";
import type { Holder } from "../cases/holders.ts";
import type { Named } from "../domain/named.ts";

/** A file of an export, and who has what is in it. */
export interface SourceFile extends ExportFile {
  readonly holder: Holder;
}

export interface Zip {
  /** What stands at the beginning, by the names of files. */
  readonly texts: Readonly<Record<string, string>>;
  readonly sources: readonly SourceFile[];
  readonly files: Pick<Files, "get">;
  readonly of: Named;
  readonly signal: AbortSignal;
}

/** Services read a page of some megabytes. */
const pageMs = 30_000;

/** Writes an archive piece by piece: no more than a page of it is in memory. */
export function writeZip({ texts, sources, files, of, signal }: Zip): AsyncIterable<Uint8Array> {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  const fail = (error: unknown) => output.destroy(error instanceof Error ? error : new Error(String(error)));
  const add = (name: string, open: () => Promise<Readable>) =>
    zip.addReadStreamLazy(name, {}, (give) => {
      open().then(
        (stream) => {
          stream.on("error", fail);
          give(null, stream);
        },
        (error: unknown) => fail(error),
      );
    });
  // Who reads it gets its error, also one that comes before the first read.
  output.on("error", () => {});
  zip.on("error", fail);
  for (const [name, text] of Object.entries(texts)) zip.addBuffer(Buffer.from(text), name);
  const named = new Set<string>();
  void (async () => {
    for (const source of sources) {
      if (source.shape !== ExportShape.FILES) {
        add(source.name, async () => Readable.from(writeJson(source, { of, signal })));
        continue;
      }
      for await (const { key, fileKey } of readEntries(source, { of, signal })) {
        add(nameOnce(named, key), async () => {
          const found = await files.get(fileKey);
          // Its answer was replaced while this was written, or is lost: nothing is erased that is not in the export.
          if (found === undefined) throw new Error("a file of an export is missing");
          return found.content;
        });
      }
    }
    zip.end();
  })().catch(fail);
  return output;
}

/** All entries of a file, page by page. */
async function* readEntries(
  { holder, name }: SourceFile,
  { of: { organizer, event }, signal }: { readonly of: Named; readonly signal: AbortSignal },
): AsyncGenerator<ExportEntry> {
  for (let after: string | undefined = ""; after !== undefined; ) {
    const { entries, next }: { entries: ExportEntry[]; next: string } = await holder.client.readPersonalData(
      { organizer, event, file: name, after },
      { signal, timeoutMs: pageMs },
    );
    yield* entries;
    after = next === "" ? undefined : next;
  }
}

async function* writeJson(
  source: SourceFile,
  place: { readonly of: Named; readonly signal: AbortSignal },
): AsyncGenerator<Buffer> {
  const [open, close] = source.shape === ExportShape.ARRAY ? ["[", "]"] : ["{", "}"];
  let text = open;
  let separator = "\n";
  for await (const { key, json } of readEntries(source, place)) {
    const value = Buffer.from(json).toString();
    text += separator + (source.shape === ExportShape.ARRAY ? value : `${JSON.stringify(key)}: ${value}`);
    separator = ",\n";
    if (text.length < flushedAt) continue;
    yield Buffer.from(text);
    text = "";
  }
  yield Buffer.from(`${text}\n${close}\n`);
}

const flushedAt = 65_536;

/** Most file systems take 255 bytes. */
const longestName = 200;

/** Cuts a name before its ending. */
function cut(name: string): string {
  if (Buffer.byteLength(name) <= longestName) return name;
  const ending = /\.\w{1,8}$/.exec(name)?.[0] ?? "";
  let kept = name.slice(0, longestName);
  while (Buffer.byteLength(kept + ending) > longestName) kept = kept.slice(0, -1);
  return kept.toWellFormed() + ending;
}

/** A name in the archive: a single segment, read as it is written, and not the same for two files. */
function nameOnce(named: Set<string>, wanted: string): string {
  const name = cut(wanted.replaceAll(/[\p{Cc}\p{Bidi_Control}/\\:]/gu, "_"));
  for (let copy = 1; ; copy += 1) {
    const candidate = copy === 1 ? name : `${copy}-${name}`;
    if (named.has(candidate)) continue;
    named.add(candidate);
    return candidate;
  }
}
