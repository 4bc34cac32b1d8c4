import { types } from "node:util";
import { type Logger, pino, stdTimeFunctions } from "pino";
import { currentContext, parseTraceparent } from "./context.ts";
import { Fault } from "./fault.ts";

/** What a log line may carry beside its message: ids, counts and codes, never personal data. A Secret prints as a mark. */
export type Fields = Readonly<Record<string, unknown>>;

/** One JSON line each. The message is constant, the data are fields. */
export interface Log {
  /** Somebody must act. */
  error(message: string, fields?: Fields): void;
  /** An anomaly that heals. */
  warn(message: string, fields?: Fields): void;
  /** A business event. */
  info(message: string, fields?: Fields): void;
  debug(message: string, fields?: Fields): void;
  /** A log whose lines all carry these fields. */
  with(fields: Fields): Log;
}

/** The most urgent level first; each includes those before it. */
export const logLevels = ["error", "warn", "info", "debug"] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogOptions {
  /** Who speaks. */
  readonly service: string;
  /** The least urgent level that is written; `info` when left out. */
  readonly level?: LogLevel;
  /** Where whole lines go, line end included; standard output when left out. */
  readonly destination?: { write(line: string): void };
}

/** Makes the log of a process. Its methods never throw, whatever they are given and wherever it goes. */
export function createLog({
  service,
  level = "info",
  destination = pino.destination(standardOutput),
}: LogOptions): Log {
  const logger = pino<never>(
    {
      level,
      base: null,
      messageKey: "message",
      timestamp: stdTimeFunctions.isoTime,
      formatters: {
        level: (name) => ({ level: name }),
        // Reached only when the level is written. The holder keeps pino from taking our fields for an HTTP request.
        log: (holder) => (holder as unknown as Holder).line(),
      },
    },
    destination,
  );
  return logOf(logger, { service });
}

/** What is handed through pino to its `log` formatter. */
interface Holder {
  line(): PlainObject;
}

type PlainObject = Record<string, unknown>;

/** Synchronous, so that the lines before a crash are written, and so that whatever goes wrong in writing is thrown where we catch it. */
const standardOutput = { fd: 1, sync: true };

function logOf(logger: Logger, bound: PlainObject): Log {
  const write = (level: LogLevel, message: string, fields: Fields | undefined) => {
    try {
      logger[level]({ line: () => lineOf(bound, fields) } satisfies Holder, text(String(message)));
    } catch {
      // What cannot be written must not break the work that it tells about.
    }
  };
  return {
    error: (message, fields) => write("error", message, fields),
    warn: (message, fields) => write("warn", message, fields),
    info: (message, fields) => write("info", message, fields),
    debug: (message, fields) => write("debug", message, fields),
    with: (fields) => logOf(logger, { ...bound, ...plainFields(fields) }),
  };
}

function lineOf(bound: PlainObject, fields: Fields | undefined): PlainObject {
  const line = fields === undefined ? { ...bound } : { ...bound, ...plainFields(fields) };
  const trace = parseTraceparent(currentContext().traceparent)?.trace;
  return trace === undefined ? line : { ...line, trace };
}

/** Written by the log itself; a second key of the same name would make a line mean different things to different readers. */
const reserved = new Set(["level", "time", "message", "trace"]);

/** The names every object inherits are looked up in pino's tables of serializers as if they had been put there. */
const isTaken = (name: string) => reserved.has(name) || name in Object.prototype;

function plainFields(fields: Fields): PlainObject {
  const plain = toPlain(fields, { left: mostValues, above: new Set() });
  if (typeof plain !== "object" || plain === null) return { fields: plain };
  const entries = Object.entries(plain as PlainObject);
  return Object.fromEntries(entries.map(([name, value]) => [isTaken(name) ? `${name}_` : name, value]));
}

/** A line is read by people and stored for weeks: beyond these sizes it is cut, and says so. */
const mostValues = 1000;
const deepest = 8;
const longestText = 8192;

interface Walk {
  /** How many more values this line has room for. */
  left: number;
  /** The objects around the value, to see circles. */
  readonly above: Set<object>;
}

/** Turns anything into what JSON can say, without an exception and within bounds. */
function toPlain(value: unknown, walk: Walk): unknown {
  walk.left -= 1;
  switch (typeof value) {
    case "string":
      return text(value);
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "bigint":
      return text(String(value));
    case "symbol":
      return text(value.toString());
    case "function":
      return "[function]";
    case "object":
      return value === null ? null : objectToPlain(value, walk);
    default:
      return value;
  }
}

function objectToPlain(value: object, walk: Walk): unknown {
  if (walk.above.has(value)) return "[circular]";
  if (walk.above.size >= deepest) return "[too deep]";
  walk.above.add(value);
  try {
    return describe(value, walk);
  } catch {
    return "[unreadable]";
  } finally {
    walk.above.delete(value);
  }
}

function describe(value: object, walk: Walk): unknown {
  if (isError(value)) return errorToPlain(value, walk);
  if (isRefusalOfPostgres(value)) return postgresErrorToPlain(value, walk);
  if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return `[${value.byteLength} bytes]`;
  if (saysItself(value)) return toPlain(value.toJSON(), walk);
  if (Array.isArray(value) || value instanceof Set) return listToPlain(value, walk);
  return value instanceof Map ? entriesToPlain(value, walk) : entriesToPlain(propertiesOf(value), walk);
}

function saysItself(value: object): value is { toJSON(): unknown } {
  return "toJSON" in value && typeof value.toJSON === "function";
}

function listToPlain(items: Iterable<unknown>, walk: Walk): unknown[] {
  const list: unknown[] = [];
  for (const item of items) {
    if (walk.left <= 0) {
      list.push("[cut]");
      break;
    }
    // As in JSON, what cannot be said still takes its place.
    list.push(toPlain(item, walk) ?? null);
  }
  return list;
}

function entriesToPlain(entries: Iterable<readonly [unknown, unknown]>, walk: Walk): PlainObject {
  const plain: [string, unknown][] = [];
  for (const [name, value] of entries) {
    if (walk.left <= 0) {
      plain.push(["…", "[cut]"]);
      break;
    }
    plain.push([text(String(name)), toPlain(value, walk)]);
  }
  // Not by assignment, which would take `__proto__` for an order.
  return Object.fromEntries(plain);
}

function* propertiesOf(value: object): Iterable<readonly [string, unknown]> {
  for (const name of Object.keys(value)) yield [name, read(value, name)];
}

/** Reads a property whose getter may throw. */
function read(value: object, name: string): unknown {
  try {
    return Reflect.get(value, name);
  } catch {
    return "[unreadable]";
  }
}

/** Half a surrogate pair is not text, and some readers of logs drop the whole line for it. */
function text(value: string): string {
  const whole = value.toWellFormed();
  return whole.length <= longestText
    ? whole
    : `${whole.slice(0, longestText).toWellFormed()}… [${whole.length - longestText} more]`;
}

function isError(value: object): value is Error {
  return value instanceof Error;
}

/** Chosen properties only: libraries hang requests, credentials and rows on their errors. */
function errorToPlain(error: Error, walk: Walk): PlainObject {
  if (isRefusalOfPostgres(error)) return postgresErrorToPlain(error, walk);
  if (error instanceof Fault) return faultToPlain(error, walk);
  return entriesToPlain(
    [...chosen(error, ["name", "message", "code", "syscall", "address", "port", "stack", "cause", "errors"])],
    walk,
  );
}

/** Somebody meant a Fault, so where it was thrown tells nothing. Of its field errors the names: their messages may quote what was sent. */
function faultToPlain(fault: Fault, walk: Walk): PlainObject {
  const fields = fault.fields === undefined ? [] : ([["fields", Object.keys(fault.fields)]] as const);
  return entriesToPlain(
    [...chosen(fault, ["name", "kind", "code", "message", "retryAfterMs"]), ...fields, ...chosen(fault, ["cause"])],
    walk,
  );
}

/**
 * What Postgres says about a failure quotes rows: `detail` has the key that
 * exists already, `where` the line being copied, and even the message the text
 * that is no number. Its code and the names of things are enough to act on.
 */
function postgresErrorToPlain(error: object, walk: Walk): PlainObject {
  const entries = [
    ...chosen(error, ["name", "code", "severity", "schema", "table", "column", "constraint", "routine"]),
  ];
  const frames = framesOf(error);
  if (frames !== undefined) entries.push(["stack", frames]);
  return entriesToPlain([...entries, ...chosen(error, ["cause"])], walk);
}

/** Whether this carries an SQLSTATE. Names of operating system errors, some as long, come with a number or the call that failed. */
function isRefusalOfPostgres(value: object): boolean {
  const code = read(value, "code");
  if (typeof code !== "string" || !/^[0-9A-Z]{5}$/.test(code)) return false;
  if (isError(value)) return read(value, "errno") === undefined && read(value, "syscall") === undefined;
  // Notices, and errors that a structured clone made into objects.
  return read(value, "severity") !== undefined;
}

/** The stack without its head, which repeats the message. */
function framesOf(error: object): string | undefined {
  const stack = read(error, "stack");
  const message = read(error, "message");
  if (typeof stack !== "string" || typeof message !== "string") return undefined;
  const start = stack.indexOf(message);
  // A message that was changed later is not found in the stack, and then cannot be told from its frames.
  if (start < 0 || message === "") return undefined;
  return stack
    .slice(start + message.length)
    .split("\n")
    .filter((line) => /^ {4}at /.test(line))
    .join("\n");
}

function* chosen(value: object, names: readonly string[]): Iterable<[string, unknown]> {
  for (const name of names) {
    const property = read(value, name);
    if (property !== undefined) yield [name, property];
  }
}
