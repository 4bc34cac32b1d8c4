import { createReadStream } from "node:fs";
import { access, constants, stat } from "node:fs/promises";
import { Fault } from "@tessera/kit/fault";
import { isObject } from "@tessera/values";
import { accessOptions, findAccess, noPlatform, noTessera, refuseRedirect } from "../command/operator-access.ts";
import { type OptionValues, readOptions } from "../command/options.ts";
import { printable } from "../command/printable.ts";
import { bar, describeLeft, showProgress } from "../command/progress.ts";
import { readSecret, warnInClear } from "../command/read-secret.ts";
import { fault } from "../faults.ts";
import { describeAmbiguous, type ImportAnswer, isImportAnswer, notSettled } from "./import-answer.ts";
import { describeRejections, describeWarnings, writeRejections } from "./rejections.ts";

const usage = `tessera import FILE | -  [OPTIONS]
tessera import --from-pretix URL --organizer O [--event E …]  [OPTIONS]

Sends records (NDJSON, also gzipped) to a running platform and reports the rejected lines; or reads a running pretix
through its REST API: at first everything, later only the changes. A run that was stopped continues where it was.`;

const options = {
  ...accessOptions,
  validate: {
    type: "boolean",
    default: false,
    help: "check the records and store nothing: prints what an import would print of them",
  },
  errors: {
    type: "string",
    value: "FILE",
    help: "write each rejected line, and each with warnings, to this file: its number, kind and errors or warnings, as one line of JSON",
  },
  "from-pretix": {
    type: "string",
    value: "URL",
    help: "read a pretix instead of a file, for instance https://pretix.eu",
  },
  token: {
    type: "string",
    value: "T",
    help: "an API token of a team of that pretix (default PRETIX_TOKEN, which the list of processes does not show)",
  },
  "token-file": { type: "string", value: "FILE", help: "a file with that token" },
  organizer: { type: "string", value: "O", help: "the short name of the organizer in pretix" },
  event: {
    type: "string",
    multiple: true,
    value: "E …",
    help: "the short names of events; default: all that the token can read",
  },
  since: { type: "string", value: "DATETIME", help: "read the changes since then, whatever earlier runs have read" },
  state: {
    type: "string",
    default: ".tessera/from-pretix.json",
    value: "FILE",
    help: "where runs store their progress (default .tessera/from-pretix.json)",
  },
  full: { type: "boolean", default: false, help: "read everything again, as the first run does" },
} as const;

type ImportValues = OptionValues<typeof options>;

/** Sends a file or standard input; exits with 1 when a line was rejected. */
export async function importRecords(args: string[]): Promise<void> {
  const read = readOptions(usage, options, args);
  if (read === undefined) return;
  const { values, names } = read;
  const { validate } = values;
  if (validate && values["from-pretix"] !== undefined)
    throw fault("file_and_pretix", "--validate checks the records of a file; a pretix is only imported");
  if (values["from-pretix"] !== undefined) return readPretix(values, names, values["from-pretix"]);
  const [file] = names;
  if (file === undefined || names.length > 1)
    throw fault("no_file", "name one file to import, or - for standard input");
  const access = await findAccess(values);
  // Now, because after a long import it would be too late for another name.
  if (values.errors !== undefined) writeRejections(values.errors, []);
  const named = values.errors === undefined ? undefined : mostErrors;
  const answer = await sendFile({ file, ...access, validate, mostErrors: named });
  report(answer, { validated: validate });
  if (values.errors !== undefined) {
    writeRejections(values.errors, [...answer.errors, ...answer.warnings]);
    if (answer.rejected > answer.errors.length || answer.warned > answer.warnings.length) {
      const { errors, warnings } = answer;
      const count = `the first ${errors.length} rejected lines and the first ${warnings.length} with warnings`;
      process.stdout.write(`${values.errors} has ${count}.\n`);
    }
  }
  if (answer.rejected > 0 || !(answer.settled || validate)) process.exitCode = 1;
}

/** Names are more events: a shell expands a list to `--event a b`. */
async function readPretix(values: ImportValues, names: readonly string[], pretix: string): Promise<void> {
  const { token: given, "token-file": file } = values;
  const token = readSecret({ option: "token", given, file, variable: "PRETIX_TOKEN" });
  const { organizer, event = [] } = values;
  if (token === undefined)
    throw fault("no_pretix_token", "set PRETIX_TOKEN or pass --token-file: an API token of a team of pretix");
  if (organizer === undefined) throw fault("no_organizer", "name the organizer in pretix with --organizer");
  if (event.length === 0 && names.length > 0)
    throw fault("file_and_pretix", "import a file or from a pretix; events are named with --event");
  const { url, key } = await findAccess(values);
  warnInClear(pretix, "the token of pretix");
  const { importFromPretix } = await import("../from-pretix/import-from-pretix.ts");
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

/** The platform reports no more in an answer. */
const mostErrors = 100_000;

async function sendFile({
  file,
  ...target
}: Parameters<typeof sendRecords>[1] & { file: string }): Promise<ImportAnswer> {
  const size = file === "-" ? undefined : await requireReadable(file);
  const source = file === "-" ? process.stdin : createReadStream(file, { highWaterMark: 256 * 1024 });
  const progress = showProgress();
  const started = Date.now();
  async function* counted(): AsyncGenerator<Uint8Array> {
    let sent = 0;
    for await (const chunk of source as AsyncIterable<Uint8Array>) {
      sent += chunk.length;
      const seconds = (Date.now() - started) / 1000;
      progress.update(
        size === undefined
          ? `${megabytes(sent)} sent`
          : `${bar(sent, size)}  ${megabytes(sent)} of ${megabytes(size)}${describeLeft({ part: sent, whole: size, seconds })}`,
      );
      yield chunk;
    }
    progress.update(
      target.validate === true ? "waiting for the answer…" : "waiting until every service has caught up…",
    );
  }
  try {
    return await sendRecords(counted(), target);
  } finally {
    progress.done();
  }
}

/** Streams records to a running platform. Gzipped ones are recognized by their first bytes. */
export async function sendRecords(
  source: AsyncIterable<Uint8Array>,
  {
    url,
    key,
    signal,
    mostErrors,
    validate = false,
  }: {
    url: string;
    key: string;
    signal?: AbortSignal;
    mostErrors?: number | undefined;
    /** Stores nothing. */
    validate?: boolean;
  },
): Promise<ImportAnswer> {
  const chunks = source[Symbol.asyncIterator]();
  const first = await chunks.next();
  const isGzipped = first.done !== true && first.value[0] === 0x1f && first.value[1] === 0x8b;
  async function* whole(): AsyncGenerator<Uint8Array> {
    for (let next = first; next.done !== true; next = await chunks.next()) yield next.value;
  }
  let response: Response;
  try {
    const address = new URL("/api/v1/import/", url);
    if (mostErrors !== undefined) address.searchParams.set("errors", String(mostErrors));
    if (validate) address.searchParams.set("validate", "true");
    response = await fetch(address, {
      method: "POST",
      headers: {
        authorization: `Token ${key}`,
        "content-type": "application/x-ndjson",
        ...(isGzipped ? { "content-encoding": "gzip" } : {}),
      },
      body: ReadableStream.from(whole()),
      duplex: "half",
      redirect: "manual",
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    signal?.throwIfAborted();
    throw noPlatform(url, error);
  }
  const body: unknown = await response.json().catch(() => undefined);
  if (response.status === 200 && isImportAnswer(body)) return body;
  if (response.status === 200) throw noTessera(url);
  refuseRedirect(url, response);
  if (response.status === 404)
    throw fault("platform_refused", `no Tessera answers at ${url}; pass the address of its REST API with --url`);
  const isTransient = response.status >= 500 || response.status === 429;
  throw fault(isTransient ? "platform_unavailable" : "platform_refused", describeRefusal(response.status, body));
}

/** An import that ended early has stored the records before; the answer counts them. */
function describeRefusal(status: number, body: unknown): string {
  const detail = isObject(body) && "detail" in body ? printable(String(body["detail"])) : `HTTP status ${status}`;
  if (!isImportAnswer(body)) return `the platform refused the import: ${detail}`;
  const { accepted, rejected } = body;
  return `the import ended early, with ${accepted} records accepted and ${rejected} rejected: ${detail}`;
}

/** The size of a file of records, or the fault that says why it cannot be read. */
export async function requireReadable(file: string): Promise<number> {
  try {
    // Opening a pipe here would take it from the import.
    await access(file, constants.R_OK);
    const found = await stat(file);
    if (found.isDirectory()) throw fault("no_such_file", `${file} is a folder; name a file with records`);
    return found.size;
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw fault("no_such_file", `${file} cannot be read`, { cause: error });
  }
}

/** Prints the outcome of an import or a validation, the first rejected lines and the first warnings. */
export function report(answer: ImportAnswer, { validated = false }: { readonly validated?: boolean } = {}): void {
  const kinds = Object.entries(answer.kinds).map(([kind, count]) => `${count} ${kind}`);
  const lines = [
    `${answer.records} records, ${answer.accepted} accepted, ${answer.rejected} rejected${kinds.length > 0 ? ` (${kinds.join(", ")})` : ""}`,
    ...describeRejections(answer).map((line) => `  ${line}`),
    ...(answer.warned === 0
      ? []
      : [`${answer.warned} accepted with warnings: what is named here was left out, or is doubtful`]),
    ...describeWarnings(answer).map((line) => `  ${line}`),
    ...answer.ignored.map(
      ({ kind, key, count }) => `  ${kind}.${printable(key)} is not known and had no effect (${count}×)`,
    ),
    ...(validated ? ["Nothing was stored."] : describeStored(answer)),
  ];
  for (const line of lines) process.stdout.write(`${line}\n`);
}

/** Results of stored records only. */
function describeStored(answer: ImportAnswer): string[] {
  return [
    ...(answer.ambiguous_secrets?.map((secret) => `  ${describeAmbiguous(secret)}`) ?? [
      unknown("tickets share a secret"),
    ]),
    ...(answer.overbooked?.map(
      ({ organizer, event, quota, size, taken }) =>
        `  quota ${quota} of ${organizer}/${event} is overbooked: ${taken} taken of ${size}`,
    ) ?? [unknown("quotas are overbooked")]),
    ...(answer.settled ? [] : [notSettled]),
  ];
}

function unknown(what: string): string {
  return `Whether ${what} could not be found out; import again to see it.`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
