import { once } from "node:events";
import { basename, extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { ThreadMessage } from "./answer-requests.ts";

/** Why a thread has not answered. */
export type ThreadTrouble =
  /** It has not begun in time: the machine is overloaded. */
  | "late"
  | "too slow"
  | "too much memory"
  /** It threw something, which is the cause. */
  | "failed"
  | "ended"
  | "left";

/** A request that was not answered. Its thread has ended. */
export class ThreadFailure extends Error {
  readonly trouble: ThreadTrouble;

  constructor(program: URL, trouble: ThreadTrouble, cause?: unknown) {
    super(`a request to the thread ${basename(program.pathname)} was not answered: ${trouble}`, { cause });
    this.trouble = trouble;
  }
}

export interface ThreadOptions {
  /** Calls `answerRequests`. */
  readonly program: URL;
  /** How long it may load before it begins with a request. */
  readonly maxLoadMs: number;
  /** How large its heap may grow, in MiB. */
  readonly maxHeap?: number;
  /** How long it is kept for the next request; by default until `end`. */
  readonly idleMs?: number;
}

export interface ThreadRequest {
  /** From its beginning: neither those before it nor the start of the thread count. */
  readonly maxMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Answers requests in a worker thread, so that they do not block the event loop, one after the other. The thread starts with the
 * first request. A thread that has not answered is ended, and the next request gets another. A process may end while it has no work for its threads.
 */
export class Thread<Request, Answer> {
  readonly #options: ThreadOptions;
  #worker: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #idle: NodeJS.Timeout | undefined;
  /** The request that an aborted caller has begun. */
  #finishing: Promise<void> | undefined;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  /** Throws a `ThreadFailure` where the thread has no answer. */
  ask(request: Request, limits: ThreadRequest): Promise<Answer> {
    const answer = this.#last.then(() => this.#askNow(request, limits));
    // An answer may be large: it belongs to its caller alone.
    const over = () => undefined;
    this.#last = answer.then(over, over);
    return answer;
  }

  /** Ends the thread, and with it the request under way. A later request starts another. */
  async end(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  async #askNow(request: Request, limits: ThreadRequest): Promise<Answer> {
    const { program } = this.#options;
    await this.#finishing;
    if (limits.signal?.aborted === true) throw new ThreadFailure(program, "left", limits.signal.reason);
    clearTimeout(this.#idle);
    this.#worker ??= this.#start();
    const worker = this.#worker;
    worker.ref();
    try {
      const answer = await answerOf<Request, Answer>(worker, request, { ...this.#options, ...limits });
      this.#rest();
      return answer;
    } catch (error) {
      if (error instanceof ThreadFailure && error.trouble === "left") this.#finishing = this.#finish(worker, limits);
      else await this.end();
      throw error;
    } finally {
      worker.unref();
    }
  }

  /** Ends the thread after a while without work. */
  #rest(): void {
    const { idleMs } = this.#options;
    if (idleMs !== undefined) this.#idle = setTimeout(() => void this.end(), idleMs).unref();
  }

  /**
   * Lets a thread finish what its caller no longer waits for. To end it at once may abort the process, when it is just making
   * a stream that decompresses; so threads are ended only where they take too long.
   */
  async #finish(worker: Worker, { maxMs }: ThreadRequest): Promise<void> {
    const late = new AbortController();
    worker.once("exit", () => late.abort());
    const timer = setTimeout(() => late.abort(), maxMs).unref();
    try {
      for (let isOver = false; !isOver; ) {
        const [message] = (await once(worker, "message", { signal: late.signal })) as [ThreadMessage<Answer>];
        isOver = !message.begins;
      }
      this.#rest();
    } catch {
      await this.end();
    } finally {
      clearTimeout(timer);
    }
  }

  #start(): Worker {
    const { program, maxHeap } = this.#options;
    // What libraries print must not reach the log.
    const worker = new Worker(program, {
      ...{ stdout: true, stderr: true },
      ...(maxHeap !== undefined && {
        resourceLimits: { maxOldGenerationSizeMb: maxHeap, maxYoungGenerationSizeMb: 16 },
      }),
    });
    // Also while nothing is asked; the exit follows.
    worker.on("error", () => undefined);
    worker.on("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    return worker;
  }
}

/** Finds a program beside the caller's file: after a build, too, both have the same extension. */
export function programBeside(url: string, name: string): URL {
  return new URL(`${name}${extname(url)}`, url);
}

async function answerOf<Request, Answer>(
  worker: Worker,
  request: Request,
  { program, maxLoadMs, maxMs, signal }: ThreadOptions & ThreadRequest,
): Promise<Answer> {
  worker.postMessage(request);
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const fail = (trouble: ThreadTrouble, cause?: unknown) => reject(new ThreadFailure(program, trouble, cause));
  let timer = setTimeout(fail, maxLoadMs, "late");
  const onMessage = (message: ThreadMessage<Answer>) => {
    clearTimeout(timer);
    if (message.begins) timer = setTimeout(fail, maxMs, "too slow");
    else resolve(message.answer);
  };
  const onError = (error: unknown) => fail(isOutOfMemory(error) ? "too much memory" : "failed", error);
  const onExit = () => fail("ended");
  const onAbort = () => fail("left", signal?.reason);
  worker.on("message", onMessage).on("error", onError).on("exit", onExit);
  signal?.addEventListener("abort", onAbort);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    worker.off("message", onMessage).off("error", onError).off("exit", onExit);
    signal?.removeEventListener("abort", onAbort);
  }
}

function isOutOfMemory(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
}
