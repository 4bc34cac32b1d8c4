/** A method of ts-proto's service definitions. */
export interface Method<Request, Response> {
  readonly path: string;
  readonly requestSerialize: (value: Request) => Buffer;
  readonly requestDeserialize: (bytes: Buffer) => Request;
  readonly responseSerialize: (value: Response) => Buffer;
  readonly responseDeserialize: (bytes: Buffer) => Response;
}

/** A service definition: unary methods by name. */
// biome-ignore lint/suspicious/noExplicitAny: methods of any message types; the mapped types below recover them
export type Definition = Readonly<Record<string, Method<any, any>>>;

/** What a handler gets besides the request. */
export interface Call {
  /** Aborts when the caller no longer waits, or its deadline has passed. */
  readonly signal: AbortSignal;
  /** Milliseconds since 1970, without the time for the answer to travel back. */
  readonly deadline: number;
}

export type Handler<Request, Response> = (request: Request, call: Call) => Promise<Response>;

export type Handlers<D extends Definition> = {
  readonly [M in keyof D]: D[M] extends Method<infer Request, infer Response> ? Handler<Request, Response> : never;
};

export interface CallOptions {
  /** How long the caller waits; 5 000 by default, never longer than the deadline of its own call. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

export type Client<D extends Definition> = {
  readonly [M in keyof D]: D[M] extends Method<infer Request, infer Response>
    ? (request: Request, options?: CallOptions) => Promise<Response>
    : never;
};

/** A definition with its handlers, ready to be served by either transport. */
export interface Implementation {
  readonly definition: Definition;
  // biome-ignore lint/suspicious/noExplicitAny: see Definition
  readonly handlers: Readonly<Record<string, Handler<any, any>>>;
}

/** Binds handlers to their definition. A missing one is an error of the compiler. */
export function implement<D extends Definition>(definition: D, handlers: Handlers<D>): Implementation {
  return { definition, handlers };
}

/** A handler of a service: it gets the request, what it works with, and the call. */
type ServiceHandlers<D extends Definition> = {
  readonly [M in keyof D]: D[M] extends Method<infer Request, infer Response>
    ? (request: Request, deps: never, call: Call) => Promise<Response>
    : never;
};

/** The intersection of what all handlers work with: each names what it needs. */
type DepsOf<H> = {
  // biome-ignore lint/suspicious/noExplicitAny: handlers of any messages
  [M in keyof H]: H[M] extends (request: any, deps: infer D, call: any) => unknown ? (deps: D) => void : never;
}[keyof H] extends (deps: infer D) => void
  ? D
  : never;

/** The handlers of a definition. `bind` gives them what they work with. */
export interface Rpcs<D> {
  readonly definition: Definition;
  readonly bind: (deps: D) => Implementation;
}

/** Declares the handlers of a definition. A missing one is an error of the compiler. */
export function rpcs<D extends Definition, H extends ServiceHandlers<D>>(definition: D, handlers: H): Rpcs<DepsOf<H>> {
  const all: Readonly<Record<string, (request: unknown, deps: never, call: Call) => Promise<unknown>>> = handlers;
  return {
    definition,
    bind(deps) {
      const bound: Record<string, Handler<unknown, unknown>> = {};
      for (const [name, handler] of Object.entries(all)) {
        bound[name] = (request, call) => handler(request, deps as never, call);
      }
      return { definition, handlers: bound };
    },
  };
}

/** Carries calls to one peer service, over a socket or in this process. Both serialise messages, so both behave alike. */
export interface Transport {
  call<Request, Response>(method: Method<Request, Response>, request: Request, options: CallOptions): Promise<Response>;
  close(): Promise<void>;
}

export function connect<D extends Definition>(definition: D, transport: Transport): Client<D> {
  const methods = Object.entries(definition).map(([name, method]) => [
    name,
    (request: unknown, options: CallOptions = {}) => transport.call(method, request, options),
  ]);
  return Object.fromEntries(methods) as Client<D>;
}
