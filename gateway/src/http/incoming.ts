import { isUuid, maxImportedId } from "@tessera/values";
import type { Caller, Tenant } from "../access/caller.ts";
import { fault } from "../faults.ts";
import { type EventPlace, type NoEvent, type Placing, placing } from "../placed.ts";
import type { Context } from "./context.ts";
import { type PublicUrl, publicUrl } from "./public-url.ts";
import type { ClaimKey, Incoming } from "./route.ts";

/** The abort reason of a request. Shared: an error with its stack per request costs more than a route. */
const requestEnded = new DOMException("the request has ended", "AbortError");

/** For requests without a key. */
const claimNothing: ClaimKey = async () => ({ kind: "new", requestId: undefined });

/** A request as handlers see it; the pipeline fills in query and body. */
export class IncomingRequest implements Incoming {
  query: unknown;
  body: unknown;
  readonly url: PublicUrl;
  readonly #ctx: Context;
  #closed: AbortController | undefined;

  constructor(ctx: Context, { baseUrl, search }: { baseUrl: string; search: URLSearchParams }) {
    this.#ctx = ctx;
    this.url = publicUrl(baseUrl, ctx.path, search);
  }

  get caller(): Caller | undefined {
    return this.#ctx.state.caller;
  }

  get tenant(): Tenant {
    const { caller } = this;
    if (caller === undefined || caller.kind === "operator") {
      throw new Error("this route is not used on behalf of an organizer");
    }
    return caller;
  }

  get organizer(): string {
    return this.param("organizer");
  }

  get event(): string {
    return this.param("event");
  }

  get inEvent(): Placing<EventPlace> {
    return placing<EventPlace>({ organizer: this.organizer, event: this.event });
  }

  get inOrganizer(): Placing<NoEvent> {
    return placing<NoEvent>({ organizer: this.organizer });
  }

  get ofTenant(): Placing<NoEvent> {
    return placing<NoEvent>({ organizer: this.tenant.organizer });
  }

  get ofTenantIn(): (event: string) => Placing<EventPlace> {
    const { organizer } = this.tenant;
    return (event) => placing<EventPlace>({ organizer, event });
  }

  get inAnyEvent(): Placing<EventPlace> {
    return placing<EventPlace>({ organizer: this.organizer, event: "" });
  }

  param(name: string): string {
    const value = this.#ctx.state.params?.[name];
    if (value === undefined) throw new Error(`the path ${this.#ctx.state.endpoint?.path} has no parameter ${name}`);
    return value;
  }

  id(name: string): number {
    const text = this.param(name);
    const id = /^\d{1,16}$/.test(text) ? Number(text) : 0;
    if (id < 1 || id > maxImportedId) throw fault("not_found", "Not found.");
    return id;
  }

  uuid(name: string): string {
    const text = this.param(name);
    if (!isUuid(text)) throw fault("not_found", "Not found.");
    return text;
  }

  header(name: string): string {
    return this.#ctx.get(name);
  }

  get isHead(): boolean {
    return this.#ctx.method === "HEAD";
  }

  stream(): AsyncIterable<Uint8Array> {
    // A reader that stops early must not destroy the connection: the answer is still to be sent.
    return this.#ctx.req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  }

  get claimKey(): ClaimKey {
    return this.#ctx.state.claimKey ?? claimNothing;
  }

  cutOff(): void {
    this.#ctx.res.destroy();
  }

  get isGone(): boolean {
    const { res } = this.#ctx;
    return res.closed || res.socket === null || res.socket.destroyed || res.socket.readableEnded;
  }

  get signal(): AbortSignal {
    if (this.#closed === undefined) {
      const closed = new AbortController();
      this.#closed = closed;
      // `close` also fires after the answer, when nothing is left to abort.
      this.#ctx.res.once("close", () => closed.abort(requestEnded));
      if (this.#ctx.res.closed || this.#ctx.res.destroyed) closed.abort(requestEnded);
    }
    return this.#closed.signal;
  }
}
