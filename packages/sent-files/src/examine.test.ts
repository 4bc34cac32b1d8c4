import { describe, expect, it } from "vitest";
import { type ExaminationLimits, examine } from "./examine.ts";
import type { SentContent } from "./examine-content.ts";
import { aPdf, aPng } from "./testing/sample-files.ts";

/** Bytes of their own, because they go over to another thread. */
const own = (bytes: Uint8Array) => Uint8Array.from(bytes);

async function objectionTo(file: SentContent, limits?: ExaminationLimits): Promise<string | undefined> {
  const examined = await examine(file, limits);
  return examined.ok ? undefined : examined.objection;
}

/** Pages that expand to two to the power of sixty. */
function doublingPages(): Buffer {
  const levels = Array.from(
    { length: 60 },
    (_, level) => `${100 + level} 0 obj << /Type /Pages /Kids [${101 + level} 0 R ${101 + level} 0 R] >> endobj`,
  );
  return aPdf({ objects: `${levels.join("\n")}\n2 0 obj << /Type /Pages /Kids [100 0 R] >> endobj` });
}

describe("an examination", () => {
  it("finds what is wrong, or nothing", async () => {
    expect(await objectionTo({ type: "image/png", bytes: own(aPng()) })).toBeUndefined();
    expect(await objectionTo({ type: "image/png", bytes: own(aPdf()) })).toMatch("PNG");
    expect(await objectionTo({ type: "application/pdf", bytes: own(aPdf()) })).toBeUndefined();
    expect(await objectionTo({ type: "application/pdf", bytes: own(aPng()) })).toMatch("PDF");
  });

  it("[S4.9] ends in time, and blocks no other request", async () => {
    let turns = 0;
    const turning = setInterval(() => {
      turns += 1;
    }, 10);
    const started = performance.now();
    const objection = await objectionTo(
      { type: "application/pdf", bytes: own(doublingPages()) },
      { maxMs: 500, maxHeap: 96 },
    );
    const tookMs = performance.now() - started;
    clearInterval(turning);
    expect(objection).toMatch("too complex");
    expect(tookMs).toBeGreaterThan(500);
    expect(turns).toBeGreaterThan(20);
  });

  it("[S4.9] grows no further than allowed", async () => {
    const numbers = Array.from({ length: 150_000 }, (_, index) => `[${index} (${index})]`).join(" ");
    const bytes = own(aPdf({ objects: `40 0 obj [${numbers}] endobj` }));
    const objection = await objectionTo({ type: "application/pdf", bytes }, { maxMs: 20_000, maxHeap: 16 });
    expect(objection).toMatch("too complex");
  });
});
