import type { Answer } from "./test-platform.ts";

/** Asks for what a job makes until it has ended; `get` asks for a path. */
export async function untilEnded(address: string, get: (path: string) => Promise<Answer>): Promise<Answer> {
  const { pathname } = new URL(address);
  for (let asked = 0; asked < 400; asked += 1) {
    const answer = await get(pathname);
    if (answer.status !== 409) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${pathname} has not ended`);
}
