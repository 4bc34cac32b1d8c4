import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { bar, describeLeft, showProgress } from "./progress.ts";

let lines: string[];
const stream = (kind: { readonly isTTY: boolean }) =>
  ({
    ...kind,
    write: (text: string) => void lines.push(text.replace("\r\u001b[2K", "")),
  }) as unknown as NodeJS.WriteStream;

beforeEach(() => {
  lines = [];
  vi.useFakeTimers({ now: 1_800_000_000_000 });
});
afterEach(() => void vi.useRealTimers());

describe("progress on a terminal", () => {
  it("shows ten texts a second at most, and the last of each pause", () => {
    const progress = showProgress(stream({ isTTY: true }));
    for (let at = 0; at < 250; at += 10) {
      progress.update(`text ${at}`);
      vi.advanceTimersByTime(10);
    }
    progress.update("waiting…");
    vi.advanceTimersByTime(100);
    expect(lines).toEqual(["text 0", "text 90", "text 190", "waiting…"]);
  });

  it("counts seconds where nothing changes, and begins again after its end", () => {
    const progress = showProgress(stream({ isTTY: true }));
    progress.update("starting…");
    vi.advanceTimersByTime(2000);
    progress.done();
    vi.advanceTimersByTime(5000);
    progress.update("again…");
    expect(lines).toEqual(["starting…", "starting…  1 s", "starting…  2 s", "", "again…"]);
  });
});

describe("progress in a pipe", () => {
  it("is a plain line every few seconds, if something has changed, and nothing for what is quick", () => {
    const progress = showProgress(stream({ isTTY: false }));
    progress.update("quick");
    vi.advanceTimersByTime(4000);
    progress.done();
    for (let at = 0; at < 12; at += 1) {
      progress.update(`${bar(Math.min(at, 8), 10)}  ${Math.min(at, 8)} of 10`);
      vi.advanceTimersByTime(1000);
    }
    vi.advanceTimersByTime(20_000);
    expect(lines).toEqual(["progress: 40 %  4 of 10\n", "progress: 80 %  8 of 10\n"]);
  });
});

it("tells how long the rest takes once there is something to judge by", () => {
  expect(describeLeft({ part: 1, whole: 4, seconds: 5 })).toBe(", about 15 s left");
  expect(describeLeft({ part: 1, whole: 4, seconds: 1 })).toBe("");
  expect(describeLeft({ part: 4, whole: 4, seconds: 9 })).toBe("");
});
