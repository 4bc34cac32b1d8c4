import { expect, it } from "vitest";
import { ServerClock } from "./server-clock.ts";

const second = 1000;
const hour = 3600 * second;
/** A server whose clock is ahead: it says whole seconds, half way between question and answer. */
const answer = (ahead: number, asked: number, tookMs: number) => ({
  date: Math.floor((asked + tookMs / 2 + ahead) / second) * second,
  times: { asked, came: asked + tookMs },
});

it("[G6.6] the clock of a phone that is right stays as it is", () => {
  const clock = new ServerClock();
  expect(clock.ahead).toBe(0);
  for (const asked of [0, 1234, 5999]) {
    const { date, times } = answer(0, asked, 40);
    clock.hear(date, times);
  }
  expect(clock.ahead).toBe(0);
});

it.each([hour, -hour, 90 * second])(
  "[G6.6] one that is wrong by %i is corrected, the better the more answers came",
  (ahead) => {
    const clock = new ServerClock();
    const first = answer(ahead, 400, 100);
    clock.hear(first.date, first.times);
    expect(Math.abs(clock.ahead - ahead)).toBeLessThanOrEqual(1100);
    for (let asked = 0; asked < 20 * second; asked += 930) {
      const { date, times } = answer(ahead, asked, 60);
      clock.hear(date, times);
    }
    expect(Math.abs(clock.ahead - ahead)).toBeLessThanOrEqual(150);
  },
);

it("[G6.6] one that is set meanwhile is measured again", () => {
  const clock = new ServerClock();
  const [before, after] = [answer(hour, 1000, 50), answer(-hour, 2 * hour, 50)];
  clock.hear(before.date, before.times);
  clock.hear(after.date, after.times);
  expect(Math.abs(clock.ahead + hour)).toBeLessThanOrEqual(1050);
});

it("[G6.6] one that was wrong at the last visit is wrong now, until the server says otherwise", () => {
  const clock = new ServerClock(hour);
  expect(clock.ahead).toBe(hour);
  const { date, times } = answer(0, 500, 20);
  clock.hear(date, times);
  expect(Math.abs(clock.ahead)).toBeLessThanOrEqual(1000);
});
