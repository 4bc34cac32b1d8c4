import type { Fault } from "@tessera/kit/fault";
import type Koa from "koa";
import type { Caller } from "../access/caller.ts";
import type { Place } from "./place.ts";

/** What the middleware has found out about the request so far. */
export interface State {
  place?: Place;
  params?: Readonly<Record<string, string>>;
  caller?: Caller;
  /** Why this request is refused unless its answer is there already: its caller asks too often. */
  overLimit?: Fault;
  /** The whole body, where a step before its reader needed it. */
  body?: Buffer;
}

export type Context = Koa.ParameterizedContext<State>;
export type Middleware = Koa.Middleware<State>;
