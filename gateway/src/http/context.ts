import type { Fault } from "@tessera/kit/fault";
import type Koa from "koa";
import type { Caller } from "../access/caller.ts";
import type { Endpoint } from "./endpoint.ts";
import type { ClaimKey } from "./route.ts";

/** What the steps have found out about the request. */
export interface State {
  endpoint?: Endpoint;
  params?: Readonly<Record<string, string>>;
  caller?: Caller;
  /** A rate limit or the limit of the route is exceeded: refused unless a kept answer exists. */
  overLimit?: Fault;
  /** The caller may not use this address: refused unless a kept answer exists. */
  forbidden?: Fault;
  /** The code of the fault that is the answer. */
  refusal?: string;
  /** The whole body, if a previous step has read it. */
  body?: Buffer;
  /** Lets the next large body of the organizer be read, before this request ends. */
  endReading?: () => void;
  /** Claims the idempotency key of a request whose handler reads a stream. */
  claimKey?: ClaimKey;
}

export type Context = Koa.ParameterizedContext<State>;
