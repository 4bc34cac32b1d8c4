import { expect, it } from "vitest";
import { createTrust } from "./trust.ts";

function atTimes() {
  let time = 0;
  const withdrawn: unknown[] = [];
  const trust = createTrust({ onWithdrawn: (error) => withdrawn.push(error), now: () => time });
  const pass = (ms: number) => {
    time += ms;
  };
  const fail = () => {
    for (let times = 0; times < 3; times += 1) trust.broken("late");
  };
  return { trust, withdrawn, pass, fail };
}

it("is withdrawn after three failures in a row, and not for one now and then", () => {
  const { trust, withdrawn } = atTimes();
  for (let times = 0; times < 10; times += 1) {
    trust.broken("late");
    trust.broken("late");
    trust.kept();
  }
  expect([trust.isGiven, withdrawn]).toEqual([true, []]);
  for (let times = 0; times < 5; times += 1) trust.broken("late");
  expect([trust.isGiven, withdrawn]).toEqual([false, ["late"]]);
});

it("is not renewed before it has rested, and rests longer each time until something works", () => {
  const { trust, pass, fail } = atTimes();
  const restOf = () => {
    fail();
    let rest = 0;
    for (; !trust.isGiven && rest < 60_000; rest += 100) {
      pass(100);
      trust.renew();
    }
    return rest;
  };
  expect(Array.from({ length: 7 }, restOf)).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  trust.kept();
  expect(restOf()).toBe(1000);
});

it("is restored at once for another connection", () => {
  const { trust, fail } = atTimes();
  fail();
  trust.renew();
  expect(trust.isGiven).toBe(false);
  trust.restore();
  trust.broken("late");
  trust.broken("late");
  expect(trust.isGiven).toBe(true);
});
