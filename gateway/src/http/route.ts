import type { Fault, FieldErrors } from "@tessera/kit/fault";
import { knownFields } from "@tessera/schema/known-fields";
import {
  type Check,
  type Checked,
  compileSchema,
  type JsonSchema,
  type ObjectSchema,
  type Properties,
  type Schema,
} from "@tessera/schema/schema";
import type { Caller, Tenant } from "../access/caller.ts";
import type { Access } from "../access/may-use.ts";
import type { EventPlace, NoEvent, Placing } from "../placed.ts";
import type { Parameters, Values } from "./parameter.ts";
import type { PublicUrl } from "./public-url.ts";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** As much as ten thousand ids and a large rule take, in bytes. */
const usualBodyBytes = 256 * 1024;

/** Ten thousand ids and a large rule. They are parsed in a few milliseconds. */
const usualValues = 20_000;

/** How the body of a route is read. */
export type Body<B> = ObjectBody<B> | ListBody<B>;

/** One object, in JSON or as a form. */
export interface ObjectBody<B> {
  readonly kind: "object";
  /** The largest, in bytes. */
  readonly maxBytes: number;
  /** How many values it may hold, those inside others too: they cost more than bytes. */
  readonly mostValues: number;
  readonly schema: Schema<B> & { readonly properties: Properties };
  readonly check: Check<B>;
  /** What it means if a form lacks a boolean: a box that is not ticked, or a field that was left out. */
  readonly missingBooleans: "false" | "absent";
}

/** A long list of objects, in JSON alone. It is read in slices, so that it delays no other request. */
export interface ListBody<B> {
  readonly kind: "list";
  /** The largest, in bytes. */
  readonly maxBytes: number;
  /** How many elements it may have, and how many characters and values each. */
  readonly mostElements: number;
  readonly longestElement: number;
  readonly mostValues: number;
  /** How many values all elements may hold together. */
  readonly mostInAll: number;
  readonly schema: Schema & { readonly items: ObjectBody<unknown>["schema"] };
  readonly check: (elements: readonly unknown[]) => Promise<CheckedList<B>>;
}

export type CheckedList<B> =
  | { readonly ok: true; readonly value: B }
  /** The errors of each element, in order; a good one has none. */
  | { readonly ok: false; readonly errors: readonly FieldErrors[] };

/** Declares a body that is one object. */
export function bodyOf<P extends Properties, B>(
  schema: ObjectSchema<P, B>,
  {
    missingBooleans = "false",
    maxBytes = usualBodyBytes,
    mostValues = usualValues,
  }: Partial<Pick<ObjectBody<B>, "missingBooleans" | "maxBytes" | "mostValues">> = {},
): ObjectBody<B> {
  return { kind: "object", schema, check: compileSchema(schema), missingBooleans, maxBytes, mostValues };
}

/** Checks a copy of a body, without what its schema does not know: no handler sees it. */
export function checkObject<B>({ schema, check }: ObjectBody<B>, value: unknown): Checked<B> {
  return check(knownFields(schema, value));
}

/** One way a route answers. */
export interface Answer {
  readonly description: string;
  /** Undefined: no body. */
  readonly schema?: JsonSchema;
  /** A body that is no answer to the example of its route. */
  readonly example?: unknown;
  /** Headers of its own, and what they say. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A header that a route reads, for its readers. */
export interface HeaderParameter {
  readonly description: string;
  readonly required: boolean;
  readonly example?: string;
}

/** A request that works as it is where the demo is loaded, and its answer. */
export interface Example {
  /** The parameters of the path, where they differ from those of most routes. */
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  /** JSON, or the text of a stream. */
  readonly body?: unknown;
  /** The media type of a body that is a stream. */
  readonly type?: string;
  /** Its status, which is the main one of the route. */
  readonly status: number;
  /** Left out: it is a file, or empty. */
  readonly answer?: unknown;
  /** The route whose answer holds the address of this request: the parameters of the path cannot be known before. */
  readonly follows?: string;
}

/** What a handler answers. */
export interface Reply {
  readonly status: number;
  /** Sent as JSON, unless `type` says what else it is. */
  readonly body?: unknown;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Answers as a request was answered before; null: without a body. */
export function repeatReply({
  status,
  headers,
  body,
}: Required<Pick<Reply, "status" | "headers">> & { readonly body: Buffer | null }): Reply {
  return { status, headers, ...(body === null ? {} : { body }) };
}

/** What its idempotency key says of a request. */
export type KeyClaim =
  /** It is to be processed under this id; undefined: it has no key. */
  | { readonly kind: "new"; readonly requestId: string | undefined }
  /** It was answered before. */
  | { readonly kind: "answered"; readonly reply: Reply };

/** Throws a Fault if the key belongs to a request that is at work or that said something else. */
export type ClaimKey = (said: readonly string[]) => Promise<KeyClaim>;

/** A request as its handler sees it: authorized, read and validated. */
export interface Incoming<Q = unknown, B = unknown> {
  readonly query: Q;
  readonly body: B;
  readonly url: PublicUrl;
  readonly caller: Caller | undefined;
  /** The caller of a route that belongs to an event. */
  readonly tenant: Tenant;
  readonly organizer: string;
  readonly event: string;
  /** Makes the message of a call that acts in the event of the path, or for its organizer. */
  readonly inEvent: Placing<EventPlace>;
  readonly inOrganizer: Placing<NoEvent>;
  /** The same for what asks about all events of the organizer at once. */
  readonly inAnyEvent: Placing<EventPlace>;
  /** A path parameter, percent-decoded once. */
  param(name: string): string;
  /** A path parameter that is a record's id; throws `not_found` when it cannot be one. */
  id(name: string): number;
  /** A path parameter that is a UUID; throws `not_found` when it cannot be one. */
  uuid(name: string): string;
  header(name: string): string;
  /** The body of a route that reads it as a stream. */
  stream(): AsyncIterable<Uint8Array>;
  /** Claims the idempotency key of such a route, when its stream has been read: `said` is what makes two requests the same. */
  readonly claimKey: ClaimKey;
  /** Aborts when the client disconnects, and when the answer has been sent. */
  readonly signal: AbortSignal;
  /** Whether its client has closed the connection, as far as that was read. */
  readonly isGone: boolean;
  /** Whether its answer is wanted without the body. */
  readonly isHead: boolean;
  /** Closes the connection, even if its client has not read the whole answer. */
  cutOff(): void;
}

/** A route as its resource declares it. */
export interface Declaration<P extends Parameters, B> {
  /** Unique; OpenAPI's operationId. */
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly query?: P;
  readonly body?: Body<B>;
  /** The field of the body that is a list of objects: what is wrong with them is told in a list, aligned with the request. */
  readonly listField?: string;
  /** The media type of a body that the handler reads as a stream; with a list, the handler refuses others itself. */
  readonly streams?: string | readonly string[];
  /** The handler claims the idempotency key before such a stream takes effect; left out, keys are ignored there. */
  readonly claimsKey?: true;
  /** What each line of such a stream holds, for the documentation alone. */
  readonly lines?: JsonSchema;
  /** Its success shows a secret that is stored nowhere. The answer is not kept for an idempotency key: the handler makes it again from the same request id. */
  readonly showsSecret?: true;
  /** The media type of its successful answer, or each that it may have; JSON when left out. */
  readonly produces?: string | readonly string[];
  readonly answers: Readonly<Record<number, Answer>>;
  /** Part of a page for people, which the OpenAPI document leaves out. */
  readonly isPage?: true;
  /** Headers of its own that it reads. */
  readonly headers?: Readonly<Record<string, HeaderParameter>>;
  /** Each route that the OpenAPI document has has one. */
  readonly example?: Example;
  /** Refuses requests whatever they say. Their bodies are looked at for an idempotency key alone. */
  readonly crowd?: Crowd;
  /** Throws `not_found` when the object of the path is missing. Called only if query or body are not valid: a missing object takes precedence. */
  readonly exists?: (request: Incoming) => Promise<void>;
  readonly handle: (request: Incoming<Values<P>, B>) => Promise<Reply>;
}

/** Why a route has no room for a request of this caller. */
export type Crowd = (request: { readonly organizer: string; readonly tenant: Tenant }) => Fault | undefined;

/** A declaration whose types only its own handler knows. */
export type AnyDeclaration = Omit<Declaration<Parameters, unknown>, "handle"> & {
  readonly handle: (request: Incoming<never, never>) => Promise<Reply>;
};

/** A route with its method and path in the URL map. */
export interface Route extends AnyDeclaration {
  readonly method: HttpMethod;
  /** With `{name}` for a path segment and `{name+}` for one or more, whose slashes belong to the value. */
  readonly path: string;
  /** Found in a radix tree, ahead of all other routes. */
  readonly hot: boolean;
}

/** Whether idempotency keys mean nothing to a route: its body is a stream, and its handler does not claim them. */
export function ignoresKeys({ streams, claimsKey }: Pick<Route, "streams" | "claimsKey">): boolean {
  return streams !== undefined && claimsKey !== true;
}

/** Declares a route; the URL map says where it is. */
export function declare<const P extends Parameters = Record<never, never>, B = undefined>(
  declaration: Declaration<P, B>,
): Declaration<P, B> {
  return declaration;
}

/** Gives a declared route its method and path. */
export function at(
  method: HttpMethod,
  path: string,
  declaration: AnyDeclaration,
  options: { hot?: boolean } = {},
): Route {
  return { ...declaration, method, path, hot: options.hot ?? false };
}
