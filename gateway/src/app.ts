import type { RequestListener } from "node:http";
import type { Cache } from "@tessera/kit/cache/cache";
import type { Log } from "@tessera/kit/telemetry/log";
import type { Metrics } from "@tessera/kit/telemetry/metrics";
import type { Tracing } from "@tessera/kit/telemetry/trace";
import Koa from "koa";
import type { Directory } from "./access/directory.ts";
import type { DeviceContacts } from "./access/remember-contacts.ts";
import { type BodyBudget, bodyReader } from "./body/read-body.ts";
import type { State } from "./http/context.ts";
import { toEndpoints } from "./http/endpoint.ts";
import type { Route } from "./http/route.ts";
import { inOrder, type Step } from "./http/step.ts";
import { answerWholly } from "./middleware/answer-wholly.ts";
import { authenticate } from "./middleware/authenticate.ts";
import { authorize } from "./middleware/authorize.ts";
import { findEndpoint } from "./middleware/find-endpoint.ts";
import { limitRate, type RateLimits } from "./middleware/limit-rate.ts";
import { negotiate } from "./middleware/negotiate.ts";
import { noteContact } from "./middleware/note-contact.ts";
import { observe } from "./middleware/observe.ts";
import { refuseCrowd } from "./middleware/refuse-crowd.ts";
import { refuseForeignPages } from "./middleware/refuse-foreign-pages.ts";
import { type AnswerStore, repeatAnswers } from "./middleware/repeat-answers.ts";
import { requireSoundHead } from "./middleware/require-sound-head.ts";
import { serve } from "./middleware/serve.ts";

export interface AppOptions {
  readonly routes: readonly Route[];
  readonly directory: Directory;
  readonly contacts: DeviceContacts;
  readonly bodies: BodyBudget;
  /** Undefined: no rate limit. */
  readonly rate?: { readonly cache: Cache; readonly limits: RateLimits };
  /** The store of answers to idempotency keys; undefined: keys are ignored. */
  readonly answers?: AnswerStore;
  /** The public address of the deployment. */
  readonly baseUrl: () => string;
  readonly isLeaving: () => boolean;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
}

export interface App {
  readonly koa: Koa<State>;
  /** Returns the listener for the server. To be called after the last change of the middleware. */
  listener(): RequestListener;
}

/** Builds the application: its steps in the order in which they run. */
export function buildApp(options: AppOptions): App {
  const { directory, contacts, bodies, rate, answers, log } = options;
  const endpoints = toEndpoints(options.routes);
  const readBody = bodyReader(bodies);
  const countRequest = rate === undefined ? undefined : limitRate(rate.cache, rate.limits);
  const [noteCrowd, refuseCrowded] = refuseCrowd();
  const [decideAccess, refuseForbidden] = authorize(directory);
  const rest = inOrder([refuseCrowded, refuseForbidden, serve({ ...options, readBody })]);
  const steps: readonly Step[] = [
    requireSoundHead(),
    findEndpoint(endpoints, options),
    negotiate(),
    authenticate(directory),
    refuseForeignPages(options),
    noteContact(contacts),
    ...(countRequest === undefined ? [] : [countRequest]),
    decideAccess,
    noteCrowd,
    ...(answers === undefined ? [] : [repeatAnswers({ answers, readBody, log, rest })]),
    rest,
  ];
  const app = new Koa<State>();
  app.on("error", (error: unknown) => log.warn("connection broke while its answer was written", { error }));
  app.use(observe(answerWholly(inOrder(steps), options), options));
  return {
    koa: app,
    listener: () => app.callback(),
  };
}
