import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BatchSlots } from "./batch-slots.ts";

describe("a batch beside another one", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  const slotsOf = ({ atOnce = 2, onSlow = () => {} } = {}) => new BatchSlots({ atOnce, worthAnother: 16, onSlow });

  it("begins for any item where nothing is under way, or little", () => {
    const slots = slotsOf();
    expect([slots.mayBegin(0), slots.mayBegin(1)]).toEqual([false, true]);
    slots.begin(3);
    expect(slots.mayBegin(1)).toBe(true);
  });

  it("begins for many items beside a large one", () => {
    const slots = slotsOf();
    const end = slots.begin(4);
    expect([slots.mayBegin(15), slots.mayBegin(16)]).toEqual([false, true]);
    end();
    expect(slots.mayBegin(1)).toBe(true);
  });

  it("begins for any item once the large one takes long, which is told", () => {
    const onSlow = vi.fn<() => void>();
    const slots = slotsOf({ onSlow });
    slots.begin(64);
    vi.advanceTimersByTime(19);
    expect([slots.mayBegin(1), onSlow.mock.calls.length]).toEqual([false, 0]);
    vi.advanceTimersByTime(1);
    expect([slots.mayBegin(1), onSlow.mock.calls.length]).toEqual([true, 1]);
  });

  it("begins only while fewer are under way than may be, and each gives back one place, once", () => {
    const slots = slotsOf();
    const [first] = [slots.begin(1), slots.begin(1)];
    expect(slots.mayBegin(100)).toBe(false);
    first?.();
    first?.();
    expect(slots.mayBegin(100)).toBe(true);
    slots.begin(1);
    expect(slots.mayBegin(100)).toBe(false);
  });

  it("leaves no timer behind", () => {
    slotsOf().begin(1)();
    expect(vi.getTimerCount()).toBe(0);
  });
});
