import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Fault } from "@tessera/kit/fault";
import { readOptions } from "./options.ts";
import { bar, showProgress } from "./progress.ts";

const usage =
  "tessera import FILE | -  [OPTIONS]\n\nSends records (NDJSON, also gzipped) to a running platform and reports the lines it did not take.";

const options = {
  url: {
    type: "string",
    default: process.env["BASE_URL"] ?? "http://localhost:8000",
    value: "URL",
    help: "where the platform answers (default BASE_URL, else http://localhost:8000)",
  },
  key: { type: "string", value: "KEY", help: "the operator key (default TESSERA_OPERATOR_KEY)" },
} as const;

/** What the import route answers (spec: records). */
export interface ImportAnswer {
  readonly records: number;
  readonly accepted: number;
  readonly rejected: number;
  readonly kinds: Readonly<Record<string, number>>;
  readonly errors: readonly {
    readonly line: number;
    readonly kind: string | null;
    readonly errors: Readonly<Record<string, readonly string[]>>;
  }[];
  readonly settled: boolean;
}

/** Sends a file or standard input; exits with 1 when a line was rejected. */
export async function importRecords(args: string[]): Promise<void> {
  const read = readOptions(usage, options, args);
  if (read === undefined) return;
  const { values, names } = read;
  const [file] = names;
  if (file === undefined || names.length > 1)
    throw new Fault("invalid", "no_file", "name one file to import, or - for standard input");
  const key = values.key ?? process.env["TESSERA_OPERATOR_KEY"];
  if (key === undefined)
    throw new Fault(
      "invalid",
      "no_operator_key",
      "set TESSERA_OPERATOR_KEY or pass --key; the platform prints its key when it starts",
    );
  const answer = await sendFile({ file, url: values.url, key });
  report(answer);
  if (answer.rejected > 0 || !answer.settled) process.exitCode = 1;
}

async function sendFile({ file, url, key }: { file: string; url: string; key: string }): Promise<ImportAnswer> {
  const size = file === "-" ? undefined : await sizeOf(file);
  const source = file === "-" ? process.stdin : createReadStream(file, { highWaterMark: 256 * 1024 });
  const progress = showProgress();
  const started = Date.now();
  async function* counted(): AsyncGenerator<Uint8Array> {
    let sent = 0;
    for await (const chunk of source as AsyncIterable<Uint8Array>) {
      sent += chunk.length;
      const seconds = ((Date.now() - started) / 1000).toFixed(0);
      progress.update(
        size === undefined
          ? `${megabytes(sent)} sent  ${seconds} s`
          : `${bar(sent, size)}  ${megabytes(sent)} of ${megabytes(size)}  ${seconds} s`,
      );
      yield chunk;
    }
    progress.update("waiting until every service has caught up…");
  }
  try {
    return await sendRecords(counted(), { url, key });
  } finally {
    progress.done();
  }
}

/** Streams records to a running platform; what is gzipped is recognised by its first bytes. */
export async function sendRecords(
  source: AsyncIterable<Uint8Array>,
  { url, key, signal }: { url: string; key: string; signal?: AbortSignal },
): Promise<ImportAnswer> {
  const chunks = peekable(source);
  const first = await chunks.peek();
  const gzipped = first !== undefined && first[0] === 0x1f && first[1] === 0x8b;
  let response: Response;
  try {
    response = await fetch(new URL("/api/v1/import/", url), {
      method: "POST",
      headers: {
        authorization: `Token ${key}`,
        "content-type": "application/x-ndjson",
        ...(gzipped ? { "content-encoding": "gzip" } : {}),
      },
      body: ReadableStream.from(chunks.all()),
      duplex: "half",
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw new Fault("unavailable", "no_platform", `the platform at ${url} cannot be reached; start it, or pass --url`, {
      cause: error,
    });
  }
  const body: unknown = await response.json().catch(() => undefined);
  if (response.status !== 200) {
    const detail =
      typeof body === "object" && body !== null && "detail" in body
        ? String(body.detail)
        : `HTTP status ${response.status}`;
    throw new Fault("invalid", "import_refused", `the platform refused the import: ${detail}`);
  }
  return body as ImportAnswer;
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    throw new Fault("not_found", "no_such_file", `${file} cannot be read`, { cause: error });
  }
}

function peekable(source: AsyncIterable<Uint8Array>): {
  peek(): Promise<Uint8Array | undefined>;
  all(): AsyncGenerator<Uint8Array>;
} {
  const iterator = source[Symbol.asyncIterator]();
  let head: IteratorResult<Uint8Array> | undefined;
  return {
    async peek() {
      head ??= await iterator.next();
      return head.done === true ? undefined : head.value;
    },
    async *all() {
      for (let next = head ?? (await iterator.next()); next.done !== true; next = await iterator.next())
        yield next.value;
    },
  };
}

/** Says what an import did, the first bad lines included. */
export function report(answer: ImportAnswer): void {
  const kinds = Object.entries(answer.kinds).map(([kind, count]) => `${count} ${kind}`);
  process.stdout.write(
    `${answer.records} records, ${answer.accepted} accepted, ${answer.rejected} rejected${kinds.length > 0 ? ` (${kinds.join(", ")})` : ""}\n`,
  );
  for (const { line, kind, errors } of answer.errors.slice(0, 20)) {
    const fields = Object.entries(errors).map(([field, messages]) => `${field}: ${messages.join(" ")}`);
    process.stdout.write(`  line ${line}${kind === null ? "" : ` (${kind})`}: ${fields.join("; ")}\n`);
  }
  if (answer.errors.length > 20) process.stdout.write(`  … ${answer.rejected - 20} more\n`);
  if (!answer.settled)
    process.stdout.write("Not every service has caught up yet; the records are stored and will appear.\n");
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
