import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { type AmbiguousSecret, describeAmbiguous } from "./ambiguous-secret.ts";
import { fault } from "./faults.ts";
import { accessOptions, noPlatform, requireOperatorKey } from "./operator-access.ts";
import { type OptionValues, readOptions } from "./options.ts";
import { printable } from "./printable.ts";
import { bar, showProgress } from "./progress.ts";

const usage = `tessera import FILE | -  [OPTIONS]
tessera import --from-pretix URL --token T --organizer O [--event E …]  [OPTIONS]

Sends records (NDJSON, also gzipped) to a running platform and reports the lines it did not take; or reads a running
pretix through its REST API, at first everything, later what has changed, and goes on where a run was stopped.`;

const options = {
  ...accessOptions,
  "from-pretix": {
    type: "string",
    value: "URL",
    help: "read a pretix instead of a file, for instance https://pretix.eu",
  },
  token: { type: "string", value: "T", help: "an API token of a team of that pretix (default PRETIX_TOKEN)" },
  organizer: { type: "string", value: "O", help: "the short name of the organizer in pretix" },
  event: {
    type: "string",
    multiple: true,
    value: "E …",
    help: "the short names of events; without it all that the token sees",
  },
  since: { type: "string", value: "DATETIME", help: "what changed since then, whatever earlier runs have read" },
  state: {
    type: "string",
    default: ".tessera/from-pretix.json",
    value: "FILE",
    help: "where runs remember how far they came (default .tessera/from-pretix.json)",
  },
  full: { type: "boolean", default: false, help: "read everything anew, as if no run had been before" },
} as const;

type ImportValues = OptionValues<typeof options>;

/** What the import route answers (rules: R7). */
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
  readonly ignored: readonly { readonly kind: string; readonly key: string; readonly count: number }[];
  /** Null where that is not known. */
  readonly overbooked: readonly OverbookedQuota[] | null;
  /** Null where that is not known. */
  readonly ambiguous_secrets: readonly AmbiguousSecret[] | null;
}

interface OverbookedQuota {
  readonly organizer: string;
  readonly event: string;
  readonly quota: number;
  readonly size: number;
  readonly taken: number;
}

/** Sends a file or standard input; exits with 1 when a line was rejected. */
export async function importRecords(args: string[]): Promise<void> {
  const read = readOptions(usage, options, args);
  if (read === undefined) return;
  const { values, names } = read;
  if (values["from-pretix"] !== undefined) return readPretix(values, names, values["from-pretix"]);
  const [file] = names;
  if (file === undefined || names.length > 1)
    throw fault("no_file", "name one file to import, or - for standard input");
  const key = requireOperatorKey(values);
  const answer = await sendFile({ file, url: values.url, key });
  report(answer);
  if (answer.rejected > 0 || !answer.settled) process.exitCode = 1;
}

/** Names are more events: shells make `--event a b` of a list. */
async function readPretix(values: ImportValues, names: readonly string[], pretix: string): Promise<void> {
  const token = values.token ?? process.env["PRETIX_TOKEN"];
  const { organizer, event = [], url } = values;
  if (token === undefined)
    throw fault("no_pretix_token", "set PRETIX_TOKEN or pass --token: an API token of a team of pretix");
  if (organizer === undefined) throw fault("no_organizer", "name the organizer in pretix with --organizer");
  if (event.length === 0 && names.length > 0)
    throw fault("file_and_pretix", "import a file or from a pretix; events are named with --event");
  const key = requireOperatorKey(values);
  const { importFromPretix } = await import("./from-pretix/import-from-pretix.ts");
  const { summary, rejected, settled } = await importFromPretix({
    pretix,
    token,
    organizer,
    events: [...event, ...names],
    since: values.since,
    stateFile: values.state,
    full: values.full,
    platform: url,
    send: (body) => sendRecords(body, { url, key }),
    progress: showProgress(),
  });
  process.stdout.write(summary);
  if (rejected > 0 || !settled) process.exitCode = 1;
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
    throw noPlatform(url, error);
  }
  const body: unknown = await response.json().catch(() => undefined);
  if (response.status !== 200) {
    const detail =
      typeof body === "object" && body !== null && "detail" in body
        ? String(body.detail)
        : `HTTP status ${response.status}`;
    const isPassing = response.status >= 500 || response.status === 429;
    throw fault(isPassing ? "platform_unavailable" : "platform_refused", `the platform refused the import: ${detail}`);
  }
  return body as ImportAnswer;
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    throw fault("no_such_file", `${file} cannot be read`, { cause: error });
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
  for (const { kind, key, count } of answer.ignored)
    process.stdout.write(`  ${kind}.${printable(key)} is not known and had no effect (${count}×)\n`);
  for (const secret of answer.ambiguous_secrets ?? []) process.stdout.write(`  ${describeAmbiguous(secret)}\n`);
  if (answer.ambiguous_secrets === null)
    process.stdout.write("Whether tickets share a secret could not be found out; import again to see it.\n");
  for (const { organizer, event, quota, size, taken } of answer.overbooked ?? [])
    process.stdout.write(`  quota ${quota} of ${organizer}/${event} is overbooked: ${taken} taken of ${size}\n`);
  if (answer.overbooked === null)
    process.stdout.write("Whether quotas are overbooked could not be found out; import again to see it.\n");
  if (!answer.settled)
    process.stdout.write("Not every service has caught up yet; the records are stored and will appear.\n");
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
