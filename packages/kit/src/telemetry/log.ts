import { types } from "node:util";
import { type Logger, pino, stdTimeFunctions } from "pino";
import { currentContext, parseTraceparent } from "../context.ts";
import { Fault } from "../fault.ts";

/** The data of a log line: ids, counts and codes, never personal data. A Secret prints as a mark. */
export type Fields = Readonly<Record<string, unknown>>;

/** One JSON line each. The message is constant, the data are fields. */
export interface Log {
  /** An operator must act. */
  error(message: string, fields?: Fields): void;
  /** An anomaly that ends by itself. */
  warn(message: string, fields?: Fields): void;
  /** A business event. */
  info(message: string, fields?: Fields): void;
  debug(message: string, fields?: Fields): void;
  /** A log that adds these fields to every line. */
  with(fields: Fields): Log;
}

/** The most urgent level first. Each includes those before it. */
export const logLevels = ["error", "warn", "info", "debug"] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogOptions {
  /** The name of the service, in every line. */
  readonly service: string;
  /** The least urgent level that is written; `info` by default. */
  readonly level?: LogLevel;
  /** Takes whole lines, line end included; standard output by default. */
  readonly destination?: { write(line: string): void };
}

/** Makes the log of a process. Its methods never throw. */
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
        // Called only when the level is written. The holder hides the fields from pino, which would treat some as an HTTP request.
        log: (holder) => (holder as unknown as Holder).line(),
      },
    },
    destination,
  );
  return logOf(logger, { service });
}

/** Passes through pino to its `log` formatter. */
interface Holder {
  line(): PlainObject;
}

type PlainObject = Record<string, unknown>;

/** Synchronous: the lines before a crash are written, and an error of writing is thrown where it is caught. */
const standardOutput = { fd: 1, sync: true };

function logOf(logger: Logger, bound: PlainObject): Log {
  const write = (level: LogLevel, message: string, fields: Fields | undefined) => {
    try {
      logger[level]({ line: () => lineOf(bound, fields) } satisfies Holder, text(String(message)));
    } catch {
      // A failure to log must not break the work that logs.
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

/** The log itself writes these. Readers of a line with the same key twice would differ in which one they take. */
const reserved = new Set(["level", "time", "message", "trace"]);

/** Pino looks names up in plain objects, where it finds the inherited ones too. */
const isTaken = (name: string) => reserved.has(name) || name in Object.prototype;

function plainFields(fields: Fields): PlainObject {
  const plain = toPlain(fields, { left: mostValues, above: new Set() });
  if (typeof plain !== "object" || plain === null) return { fields: plain };
  const entries = Object.entries(plain as PlainObject);
  return Object.fromEntries(entries.map(([name, value]) => [isTaken(name) ? `${name}_` : name, value]));
}

/** Lines are read by people and stored for weeks. Beyond these sizes a line is cut, with a mark. */
const mostValues = 1000;
const deepest = 8;
const longestText = 8192;

interface Walk {
  /** How many more values fit into this line. */
  left: number;
  /** The objects that contain the value, to find circles. */
  readonly above: Set<object>;
}

/** Turns any value into one that JSON can express, within the bounds above. Never throws. */
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
  if (isPostgresError(value)) return entriesToPlain(postgresFields(value), walk);
  if (value instanceof Fault) return entriesToPlain(faultFields(value), walk);
  if (value instanceof Error) return entriesToPlain(chosen(value, errorFields), walk);
  if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return `[${value.byteLength} bytes]`;
  if (hasToJson(value)) return toPlain(value.toJSON(), walk);
  if (value instanceof Map) return entriesToPlain(value, walk);
  if (!Array.isArray(value) && !(value instanceof Set)) return entriesToPlain(propertiesOf(value), walk);
  // As in JSON, a value without a text keeps its place in a list.
  return Array.from(untilFull<unknown>(value, walk, "[cut]"), (item) => toPlain(item, walk) ?? null);
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return "toJSON" in value && typeof value.toJSON === "function";
}

function entriesToPlain(entries: Iterable<readonly [unknown, unknown]>, walk: Walk): PlainObject {
  const within = untilFull(entries, walk, ["…", "[cut]"]);
  // Not by assignment: that would set the prototype for a field `__proto__`.
  return Object.fromEntries(Array.from(within, ([name, value]) => [text(String(name)), toPlain(value, walk)]));
}

/** Passes items on while the line has room, then the mark. */
function* untilFull<T>(items: Iterable<T>, walk: Walk, mark: T): Iterable<T> {
  for (const item of items) {
    if (walk.left <= 0) {
      yield mark;
      return;
    }
    yield item;
  }
}

function propertiesOf(value: object): Iterable<readonly [string, unknown]> {
  return Object.keys(value)
    .values()
    .map((name) => [name, read(value, name)]);
}

/** The properties of these names that have a value. */
function* chosen(value: object, names: readonly string[]): Iterable<[string, unknown]> {
  for (const name of names) {
    const property = read(value, name);
    if (property !== undefined) yield [name, property];
  }
}

/** Reads a property whose getter may throw. */
function read(value: object, name: string): unknown {
  try {
    return Reflect.get(value, name);
  } catch {
    return "[unreadable]";
  }
}

/** Some readers of logs drop a line that has half of a surrogate pair. */
function text(value: string): string {
  const whole = value.toWellFormed();
  return whole.length <= longestText
    ? whole
    : `${whole.slice(0, longestText).toWellFormed()}… [${whole.length - longestText} more]`;
}

/** Chosen properties only: libraries attach requests, credentials and rows to their errors. */
const errorFields = ["name", "message", "code", "syscall", "address", "port", "stack", "cause", "errors"];

/** A Fault needs no stack. Of its field errors only the names are logged: the messages may quote the request. */
function* faultFields(fault: Fault): Iterable<[string, unknown]> {
  yield* chosen(fault, ["name", "kind", "code", "message", "retryAfterMs"]);
  if (fault.fields !== undefined) yield ["fields", Object.keys(fault.fields)];
  yield* chosen(fault, ["cause"]);
}

/**
 * Errors of Postgres quote rows: `detail` has the existing key, `where` the line being copied, and even the message may
 * have the text that is not a number. The code and the names of things are enough to act on.
 */
function* postgresFields(error: object): Iterable<[string, unknown]> {
  yield* chosen(error, ["name", "code", "severity", "schema", "table", "column", "constraint", "routine"]);
  // The message about a missing right names the table, which no other field does, and quotes no row.
  if (read(error, "code") === "42501") yield* chosen(error, ["message"]);
  const frames = framesOf(error);
  if (frames !== undefined) yield ["stack", frames];
  yield* chosen(error, ["cause"]);
}

/** Whether this has an SQLSTATE. Codes of the operating system, some as long, come with a number or the failed call. */
function isPostgresError(value: object): boolean {
  const code = read(value, "code");
  if (typeof code !== "string" || !/^[0-9A-Z]{5}$/.test(code)) return false;
  if (value instanceof Error) return read(value, "errno") === undefined && read(value, "syscall") === undefined;
  // Notices, and errors that a structured clone made into objects.
  return read(value, "severity") !== undefined;
}

/** The stack without its first line, which repeats the message. */
function framesOf(error: object): string | undefined {
  const stack = read(error, "stack");
  const message = read(error, "message");
  if (typeof stack !== "string" || typeof message !== "string") return undefined;
  const start = stack.indexOf(message);
  // A message that was changed later is not in the stack: then its lines cannot be told from the frames.
  if (start < 0 || message === "") return undefined;
  const lines = stack.slice(start + message.length).split("\n");
  return lines.filter((line) => /^ {4}at /.test(line)).join("\n");
}
