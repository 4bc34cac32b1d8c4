import { isUtf8 } from "node:buffer";
import { pipeline } from "node:stream/promises";
import { Busboy } from "@fastify/busboy";
import type { Fault } from "@tessera/kit/fault";
import type { JsonSchema } from "@tessera/schema/schema";
import { isObject } from "@tessera/values";
import { fault } from "../faults.ts";
import { invalidElements } from "../http/element-errors.ts";
import { type Body, checkObject, type ListBody, type ObjectBody } from "../http/route.ts";
import { fieldTexts } from "./field-texts.ts";
import { findExcess } from "./nesting.ts";
import { parseBatch } from "./parse-batch.ts";
import { parseJson } from "./parse-json.ts";
import { parseList } from "./parse-list.ts";

/** A form has some dozen fields, and repeats list fields. Longer lists are sent as JSON, which is cheaper. */
const mostFields = 1000;

/** The length of a rule or a layout. Decoding more takes too long. */
const mostFormBytes = 256 * 1024;

const bodyTypes = ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"] as const;

/** The media types of a body. A form cannot hold a list of objects. */
export function typesOf({ kind }: Pick<Body<unknown>, "kind">): readonly string[] {
  return kind === "object" ? bodyTypes : [bodyTypes[0]];
}

/** Reads a body by its media type. An empty body is an empty object, whatever its type. */
export async function parseBody(
  bytes: Buffer,
  headers: { type: string; encoding: string },
  body: Body<unknown>,
): Promise<unknown> {
  if (bytes.length === 0) return body.kind === "list" ? parseList("{}", body) : {};
  const encoding = headers.encoding.trim().toLowerCase();
  if (encoding !== "" && encoding !== "identity") throw unsupported("The body must not be compressed here.");
  const type = mediaType(headers.type);
  if (type === "application/json") return parseText(decode(bytes), body);
  if (body.kind !== "object")
    throw unsupported("The Content-Type of the body is not supported; send application/json.");
  if (type === "application/x-www-form-urlencoded") return readForm(parseUrlEncoded(bytes), body);
  if (type === "multipart/form-data") return readForm(await parseMultipart(bytes, headers.type), body);
  throw unsupported("The Content-Type of the body is not supported; send application/json.");
}

function parseText(json: string, body: Body<unknown>): unknown {
  switch (body.kind) {
    case "object":
      return parseObject(json, body);
    case "list":
      return parseList(json, body);
    case "batch":
      return parseBatch(json, body);
  }
}

/** The media type of a Content-Type header, without parameters. */
export function mediaType(header: string): string {
  if (header === bodyTypes[0]) return header;
  return (header.split(";", 1)[0] ?? "").trim().toLowerCase();
}

export function unsupported(message: string): Fault {
  return fault("unsupported_media_type", message);
}

/** Checks a parsed body against its schema. */
export async function checkBody<B>(value: unknown, body: Body<B>): Promise<B> {
  if (body.kind === "list") return checkList(value as readonly unknown[], body);
  if (value === null) throw invalid({ non_field_errors: ["No data provided."] });
  const checked = body.kind === "batch" ? await body.check(value) : checkObject(body, value);
  if (!checked.ok) throw invalid(checked.errors);
  return checked.value;
}

async function checkList<B>(elements: readonly unknown[], body: ListBody<B>): Promise<B> {
  const checked = await body.check(elements);
  if (!checked.ok) throw invalidElements(checked.errors);
  return checked.value;
}

function invalid(fields: Record<string, readonly string[]>): Fault {
  return fault("invalid_body", "some fields are not valid", { fields });
}

/** Parses JSON; fields that are kept as they were sent stay texts. */
function parseObject(json: string, { schema: { properties }, mostValues }: ObjectBody<unknown>): unknown {
  const value = parseJson(json, mostValues);
  const verbatim = Object.keys(properties).filter((name) => properties[name]?.["read"] === "json");
  if (verbatim.length === 0 || !isObject(value)) return value;
  return Object.assign(value, Object.fromEntries(fieldTexts(json, new Set(verbatim))));
}

function decode(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw fault("malformed_body", "The body is not valid UTF-8.");
  const text = bytes.toString("utf8");
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}

const ampersand = 0x26;

function parseUrlEncoded(bytes: Buffer): URLSearchParams {
  if (bytes.length > mostFormBytes)
    throw fault("body_too_large", `A form has at most ${mostFormBytes} bytes. Send more as JSON.`);
  let fields = 1;
  for (let at = bytes.indexOf(ampersand); at !== -1; at = bytes.indexOf(ampersand, at + 1)) {
    fields += 1;
    if (fields > mostFields) throw tooManyFields();
  }
  const text = decode(bytes);
  const form = new URLSearchParams(text);
  if (isMisread(form, text)) throw fault("malformed_body", "The form is not percent-encoded UTF-8.");
  const [[first] = [""]] = form;
  // JSON sent by `curl -d` without a Content-Type. As a form it would be one unknown field, and ignored.
  if (/^\s*[{[]/.test(first))
    throw fault(
      "malformed_body",
      "The body looks like JSON: send it with the header `Content-Type: application/json`.",
    );
  return form;
}

/** Whether a form is not UTF-8: decoding replaces such bytes with U+FFFD, which then occurs more often than sent. */
function isMisread(form: URLSearchParams, sent: string): boolean {
  const read = [...form].flat().join("&");
  return read.includes("\ufffd") && read.split("\ufffd").length > sent.split(/\ufffd|%ef%bf%bd/i).length;
}

/** Reads the text parts of a multipart form; no field is a file. */
async function parseMultipart(bytes: Buffer, type: string): Promise<URLSearchParams> {
  if (!isUtf8(bytes)) throw fault("malformed_body", "The body is not valid UTF-8.");
  const texts = new URLSearchParams();
  let fields = 0;
  try {
    const limits = { fieldSize: bytes.length, fields: mostFields, files: 0, parts: mostFields };
    const parts = new Busboy({ headers: { "content-type": type }, limits });
    parts.on("field", (name, value) => texts.append(name, value));
    const refuse = () => {
      fields = mostFields + 1;
      parts.destroy();
    };
    parts.once("partsLimit", refuse).once("fieldsLimit", refuse);
    await pipeline([bytes], parts);
  } catch {
    if (fields > mostFields) throw tooManyFields();
    throw fault("malformed_body", "The body is not valid multipart/form-data.");
  }
  return texts;
}

function tooManyFields(): Fault {
  return fault("malformed_body", `A form has at most ${mostFields} fields. Send longer lists as JSON.`);
}

/** Reads flat fields of a form. Of a repeated field the last counts, unless the field is a list. */
function readForm(form: URLSearchParams, { schema, missingBooleans, mostValues }: ObjectBody<unknown>): unknown {
  const fields = new Map<string, unknown>(form);
  for (const [name, property] of Object.entries(schema.properties)) {
    const sent = form.getAll(name);
    if (sent.length > 0) fields.set(name, readFormField(property, sent, mostValues));
    else if (property["read"] === "boolean" && missingBooleans === "false") fields.set(name, false);
  }
  return Object.fromEntries(fields);
}

function readFormField(property: JsonSchema, sent: readonly string[], mostValues: number): unknown {
  const last = sent.at(-1) ?? "";
  if (property["read"] === "json") return last;
  const types = [property["type"]].flat();
  if (types.includes("array")) return sent;
  if (property["read"] !== "any" && !types.includes("object")) return last;
  if (findExcess(last, mostValues) !== undefined) return last;
  try {
    return JSON.parse(last) as unknown;
  } catch {
    return last;
  }
}
