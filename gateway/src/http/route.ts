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
import type { StatusName } from "./problem.ts";
import type { PublicUrl } from "./public-url.ts";

export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The size of ten thousand ids and a large rule, in bytes. */
const usualBodyBytes = 256 * 1024;

/** Ten thousand ids and a large rule, which are parsed in a few milliseconds. */
const usualValues = 20_000;

export type Body<B> = ObjectBody<B> | ListBody<B> | BatchBody<B>;

/** What a handler gets of a body. */
export type BodyOf<D> = D extends Body<infer B> ? B : never;

/** One object, in JSON or as a form. */
export interface ObjectBody<B> {
  readonly kind: "object";
  /** The size limit in bytes. */
  readonly maxBytes: number;
  /** The limit of values, nested ones included: values cost more than bytes. */
  readonly mostValues: number;
  readonly schema: Schema<B> & { readonly properties: Properties };
  readonly check: Check<B>;
  /** What a missing boolean of a form means: an unticked box, or a missing field. */
  readonly missingBooleans: "false" | "absent";
}

/** A long list of objects, in JSON only. It is parsed in slices, so that it does not block the event loop. */
export interface ListBody<B> {
  readonly kind: "list";
  /** The size limit in bytes. */
  readonly maxBytes: number;
  /** The limits of elements, and of characters and values in each. */
  readonly mostElements: number;
  readonly longestElement: number;
  readonly mostValues: number;
  /** The limit of values in all elements. */
  readonly mostInAll: number;
  readonly schema: Schema & { readonly items: ObjectBody<unknown>["schema"] };
  readonly check: (elements: readonly unknown[]) => Promise<CheckedList<B>>;
}

/**
 * One object with a long list of objects in one field, in JSON only. The list is parsed in slices. A wrong element does not
 * make the body wrong: the handler gets the errors of that element instead.
 */
export interface BatchBody<B> {
  readonly kind: "batch";
  readonly maxBytes: number;
  readonly field: string;
  readonly head: ObjectBody<unknown>;
  readonly list: Pick<ListBody<unknown>, "mostElements" | "longestElement" | "mostValues" | "mostInAll">;
  readonly schema: Schema & { readonly properties: Properties };
  readonly check: (sent: unknown) => Promise<Checked<B>>;
}

export type CheckedList<B> =
  | { readonly ok: true; readonly value: B }
  /** The errors of each element, in order; a valid element has none. */
  | { readonly ok: false; readonly errors: readonly FieldErrors[] };

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

/** Checks a copy of a body, without fields that its schema does not know: no handler sees those. */
export function checkObject<B>({ schema, check }: ObjectBody<B>, value: unknown): Checked<B> {
  return check(knownFields(schema, value));
}

export interface Answer {
  readonly description: string;
  /** Undefined: no body. */
  readonly schema?: JsonSchema;
  /** A body that is not the answer to the example of its route. */
  readonly example?: unknown;
  /** Additional headers, with their descriptions. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface HeaderParameter {
  readonly description: string;
  readonly required: boolean;
  readonly example?: string;
}

/** A request that works unchanged in a deployment with the demo, and its answer. */
export interface Example {
  /** Path parameters, where they differ from those of most routes. */
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  /** JSON, or the text of a stream. */
  readonly body?: unknown;
  /** The media type of a stream. */
  readonly type?: string;
  /** The main status of the route. */
  readonly status: StatusName;
  /** Undefined: the answer is a file, or empty. */
  readonly answer?: unknown;
  /** The route whose answer contains the address of this request: its path parameters cannot be known before. */
  readonly follows?: string;
}

export interface Reply {
  readonly status: StatusName;
  /** Sent as JSON, unless `type` is set. */
  readonly body?: unknown;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer that was kept, and is sent as it was. */
export interface RepeatedReply {
  readonly status: number;
  readonly type?: undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Null: without a body. */
  readonly body: Buffer | null;
}

export type KeyClaim =
  /** The request is to be processed under this id; undefined: it has no key. */
  | { readonly kind: "new"; readonly requestId: string | undefined }
  | { readonly kind: "answered"; readonly reply: RepeatedReply };

/** Throws a Fault if the key belongs to a request in progress, or with another content. */
export type ClaimKey = (said: readonly string[]) => Promise<KeyClaim>;

/** A request as its handler sees it: authorized, read and validated. */
export interface Incoming<Q = unknown, B = unknown> {
  readonly query: Q;
  readonly body: B;
  readonly url: PublicUrl;
  readonly caller: Caller | undefined;
  /** The caller of a route below an event. */
  readonly tenant: Tenant;
  readonly organizer: string;
  readonly event: string;
  /** Makes a message for the event, or for the organizer, of the path. */
  readonly inEvent: Placing<EventPlace>;
  readonly inOrganizer: Placing<NoEvent>;
  /** The same for the organizer of the credentials, where the path names none. */
  readonly ofTenant: Placing<NoEvent>;
  /** For an event that was looked up among those of the credentials; empty: for calls about all events. */
  readonly ofTenantIn: (event: string) => Placing<EventPlace>;
  /** The same for calls about all events of the organizer. */
  readonly inAnyEvent: Placing<EventPlace>;
  /** A path parameter, percent-decoded once. */
  param(name: string): string;
  /** A path parameter that is an id; throws `not_found` for anything else. */
  id(name: string): number;
  /** A path parameter that is a UUID; throws `not_found` for anything else. */
  uuid(name: string): string;
  header(name: string): string;
  /** The body, for a route that reads it as a stream. */
  stream(): AsyncIterable<Uint8Array>;
  /** Claims the idempotency key after the stream was read: `said` identifies the content of the request. */
  readonly claimKey: ClaimKey;
  /** Aborts when the client disconnects, and when the answer was sent. */
  readonly signal: AbortSignal;
  /** Whether the client has closed the connection, as far as known. */
  readonly isGone: boolean;
  /** Whether the client wants no body. */
  readonly isHead: boolean;
  /** Closes the connection, even if the client has not read the whole answer. */
  cutOff(): void;
}

export interface Declaration<P extends Parameters, B> {
  /** Unique; OpenAPI's operationId. */
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly query?: P;
  readonly body?: Body<B>;
  /** A list field of the body, whose errors are reported as a list aligned with the request. */
  readonly listField?: string;
  /** The media type of a body that the handler reads as a stream; of several, the handler refuses others itself. */
  readonly streams?: string | readonly string[];
  /** The handler claims the idempotency key before the stream takes effect; otherwise keys are ignored. */
  readonly claimsKey?: true;
  /** The schema of each line of the stream, for the documentation only. */
  readonly lines?: JsonSchema;
  /**
   * The answer contains a secret that is stored nowhere. It is not kept for an idempotency key: the handler derives it
   * again from the request id.
   */
  readonly showsSecret?: true;
  /** The media type or types of the successful answer; by default JSON. */
  readonly produces?: string | readonly string[];
  readonly answers: Readonly<Partial<Record<StatusName, Answer>>>;
  /** Part of a page for people, not of the OpenAPI document. */
  readonly isPage?: true;
  readonly headers?: Readonly<Record<string, HeaderParameter>>;
  /** Required for each route of the OpenAPI document. */
  readonly example?: Example;
  /** Refuses requests by load. Their bodies are read only for an idempotency key. */
  readonly crowd?: Crowd;
  /** Throws `not_found` if the object of the path is missing, which takes precedence over an invalid query or body. */
  readonly exists?: (request: Incoming) => Promise<unknown>;
  readonly handle: (request: Incoming<Values<P>, B>) => Promise<Reply | RepeatedReply>;
}

/** Backpressure: why a route refuses another request of this caller; undefined: it accepts the request. */
export type Crowd = (request: { readonly organizer: string; readonly tenant: Tenant }) => Fault | undefined;

/** A declaration whose types only its own handler knows. */
export type AnyDeclaration = Omit<Declaration<Parameters, unknown>, "handle"> & {
  readonly handle: (request: Incoming<never, never>) => Promise<Reply | RepeatedReply>;
};

export interface Route extends AnyDeclaration {
  readonly method: HttpMethod;
  /** With `{name}` for a path segment and `{name+}` for one or more, whose slashes belong to the value. */
  readonly path: string;
}

/** Whether a route ignores idempotency keys: its body is a stream, and its handler does not claim them. */
export function ignoresKeys({ streams, claimsKey }: Pick<Route, "streams" | "claimsKey">): boolean {
  return streams !== undefined && claimsKey !== true;
}

/** Declares a route; the URL map says where it is. */
export function declare<const P extends Parameters = Record<never, never>, B = undefined>(
  declaration: Declaration<P, B>,
): Declaration<P, B> {
  return declaration;
}

export function at(method: HttpMethod, path: string, declaration: AnyDeclaration): Route {
  return { ...declaration, method, path };
}
