import type { Fault } from "@tessera/kit/fault";
import type Koa from "koa";
import type { Caller } from "../access/caller.ts";
import type { Endpoint } from "./endpoint.ts";
import type { ClaimKey } from "./route.ts";

/** What the steps have found out about the request so far. */
export interface State {
  endpoint?: Endpoint;
  params?: Readonly<Record<string, string>>;
  caller?: Caller;
  /** The caller exceeds its rate limit, or too much waits: the request is refused, unless its answer has been kept. */
  overLimit?: Fault;
  /** The caller may not use this address: the request is refused, unless its answer has been kept. */
  forbidden?: Fault;
  /** The code of the fault that is the answer. */
  refusal?: string;
  /** The whole body, if an earlier step has read it. */
  body?: Buffer;
  /** Claims the idempotency key of a request whose handler reads it as a stream. */
  claimKey?: ClaimKey;
}

export type Context = Koa.ParameterizedContext<State>;
