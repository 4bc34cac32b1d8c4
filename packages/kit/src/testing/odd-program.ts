import { randomUUID } from "node:crypto";
import { answerRequests } from "../threads/answer-requests.ts";

/** What the thread does with a request. */
export type Oddity =
  | "answer"
  | "answer with much"
  | "load for ever"
  | "work for ever"
  | "throw"
  | "exit"
  | "fill the memory"
  | "die later";

const thread = randomUUID();
const never = new Promise<never>(() => undefined);

function behave(oddity: Oddity): unknown {
  const numbers: number[][] = [];
  if (oddity === "throw") throw new Error("odd");
  if (oddity === "exit") process.exit(0);
  if (oddity === "die later") setTimeout(() => process.exit(1), 1);
  while (oddity === "fill the memory") numbers.push(Array.from({ length: 1000 }, (_, index) => index));
  if (oddity === "answer with much") return new Uint8Array(1024 * 1024);
  for (; oddity === "work for ever"; );
  return thread;
}

answerRequests<Oddity, unknown>({ load: (oddity) => oddity === "load for ever" && never, answer: behave });
