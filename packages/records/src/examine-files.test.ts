import type { FieldErrors } from "@tessera/kit/fault";
import { aPdf, aPng } from "@tessera/sent-files/testing/sample-files";
import { describe, expect, it } from "vitest";
import { examineFiles } from "./examine-files.ts";
import type { ExamineFile } from "./kind.ts";

/** A kind whose records are nothing but files; examined, they are what is wrong with each. */
const kind = {
  *filesOf(value: unknown) {
    for (const content of value as Buffer[]) yield { key: "", contentType: "", content };
  },
  async examineFiles(value: unknown, examine: ExamineFile) {
    const found: (string | undefined)[] = [];
    for (const bytes of value as Buffer[]) {
      const type = bytes.toString("latin1", 0, 4) === "%PDF" ? "application/pdf" : "image/png";
      const examined = await examine({ type, bytes });
      found.push(examined.ok ? undefined : examined.objection);
    }
    return found;
  },
};
const recordOf = (...value: Buffer[]) => ({
  sent: { kind: "", organizer: "", event: "", deleted: false, line: 1, data: new Uint8Array() as Uint8Array },
  kind,
  scope: { organizer: "org", event: "fest" },
  key: "",
  removal: false,
  value,
  warnings: {},
  doubted: () => {
    throw new Error("nothing is doubted");
  },
  without: async (errors: FieldErrors) => ({ ok: false as const, errors }),
});
type Sent = ReturnType<typeof recordOf>;
const valuesOf = (records: readonly Sent[]): unknown[] => records.map(({ value }) => value);

/** Pages that expand to two to the power of sixty. */
const slow = aPdf({
  objects: [
    ...Array.from(
      { length: 60 },
      (_, level) => `${100 + level} 0 obj << /Type /Pages /Kids [${101 + level} 0 R ${101 + level} 0 R] >> endobj`,
    ),
    "2 0 obj << /Type /Pages /Kids [100 0 R] >> endobj",
  ].join("\n"),
});
const times = { mostMs: 400, mostMsEach: 250 };
const tooComplex = expect.stringMatching("too complex");

describe("the files of records", () => {
  it("are examined one after the other, and a slow one costs the others nothing", async () => {
    const records = [recordOf(), recordOf(aPng(), slow, aPdf()), recordOf(Buffer.from("none"))];
    const examined = await examineFiles(records, { mostMs: 20_000, mostMsEach: 1500 });
    expect(valuesOf(examined)).toEqual([[], [undefined, tooComplex, undefined], [expect.stringMatching("PNG")]]);
  });

  it("that take long together are not examined together, and those of one record are given up", async () => {
    await expect(examineFiles([recordOf(slow, slow), recordOf(aPng())], times)).rejects.toMatchObject({
      kind: "unmet",
      code: "files_take_long",
    });
    const started = performance.now();
    const [alone] = valuesOf(await examineFiles([recordOf(...Array.from({ length: 20 }, () => slow))], times));
    expect(alone).toEqual(Array.from({ length: 20 }, () => tooComplex));
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
