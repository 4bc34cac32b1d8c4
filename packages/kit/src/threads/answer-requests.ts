import { parentPort, type Transferable } from "node:worker_threads";

/** What a thread sends about its request: that the work begins, then the answer. */
export type ThreadMessage<Answer> = { readonly begins: true } | { readonly begins: false; readonly answer: Answer };

interface Work<Request, Answer> {
  /** Loads what the request needs, before the time for it begins. */
  readonly load?: (request: Request) => unknown;
  readonly answer: (request: Request) => Answer | Promise<Answer>;
  /** What of an answer is handed over instead of copied. */
  readonly handOver?: (answer: Answer) => Transferable[];
}

/** Answers the requests of a `Thread`; called once, by its program. What is thrown ends the thread. */
export function answerRequests<Request, Answer>({ load, answer, handOver }: Work<Request, Answer>): void {
  const tell = (message: ThreadMessage<Answer>, parts: Transferable[] = []) => parentPort?.postMessage(message, parts);
  async function handle(request: Request): Promise<void> {
    await load?.(request);
    tell({ begins: true });
    const answered = await answer(request);
    tell({ begins: false, answer: answered }, handOver?.(answered));
  }
  parentPort?.on("message", (request: Request) => void handle(request));
}
