import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { commitTogether } from "./commit-together.ts";

describe("committing together", () => {
  it("sends what comes together in one request, and what comes meanwhile in the next", async () => {
    const sent: string[] = [];
    const answers: PromiseWithResolvers<void>[] = [];
    const commit = commitTogether((offsets) => {
      sent.push(offsets.map(({ partition, offset }) => `${partition}:${offset}`).join(" "));
      const answer = Promise.withResolvers<void>();
      answers.push(answer);
      return answer.promise;
    });
    const first = Promise.all([commit(0, "5"), commit(1, "7")]);
    await expect.poll(() => sent).toEqual(["0:5 1:7"]);
    const second = Promise.all([commit(0, "6"), commit(2, "1"), commit(0, "9")]);
    await sleep(150);
    expect(sent).toEqual(["0:5 1:7"]);
    answers[0]?.resolve();
    await first;
    await expect.poll(() => sent).toEqual(["0:5 1:7", "0:9 2:1"]);
    answers[1]?.resolve();
    await second;
  });

  it("goes on behind a request that failed", async () => {
    const sent: number[] = [];
    const commit = commitTogether(async (offsets) => {
      sent.push(offsets.length);
      if (sent.length === 1) throw new Error("the coordinator has moved");
    });
    await commit(0, "5");
    await commit(0, "6");
    expect(sent).toEqual([1, 1]);
  });
});
