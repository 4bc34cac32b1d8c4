import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createAlarm } from "./alarm.ts";

/** Whether a pause has ended by now. */
function watch(pause: Promise<void>): { readonly over: boolean } {
  const state = { over: false };
  void pause.then(() => {
    state.over = true;
  });
  return state;
}

const long = 60_000;

describe("createAlarm", () => {
  it("pauses for the time given", async () => {
    const pause = watch(createAlarm().pause(30));
    await sleep(10);
    expect(pause.over).toBe(false);
    await sleep(50);
    expect(pause.over).toBe(true);
  });

  it("wakes light sleepers only, all of them", async () => {
    const alarm = createAlarm();
    const light = [1, 2].map(() => watch(alarm.pause(long, { lightly: true })));
    const deep = watch(alarm.pause(long));
    alarm.ring();
    await sleep(5);
    expect([...light.map(({ over }) => over), deep.over]).toEqual([true, true, false]);
    alarm.stop();
  });

  it("remembers one ring for the next light sleep", async () => {
    const alarm = createAlarm();
    alarm.ring();
    alarm.ring();
    await alarm.pause(5);
    await alarm.pause(long, { lightly: true });
    const next = watch(alarm.pause(long, { lightly: true }));
    await sleep(5);
    expect(next.over).toBe(false);
    alarm.stop();
  });

  it("lets nothing sleep once it is stopped", async () => {
    const alarm = createAlarm();
    const pauses = [alarm.pause(long), alarm.pause(long, { lightly: true })];
    expect(alarm.stopped).toBe(false);
    alarm.stop();
    alarm.stop();
    await Promise.all(pauses);
    await alarm.pause(long);
    expect(alarm.stopped).toBe(true);
  });
});
