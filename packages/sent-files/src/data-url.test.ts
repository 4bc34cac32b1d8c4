import { describe, expect, it } from "vitest";
import { isDataUrl, readDataUrl } from "./data-url.ts";

const mebibyte = 1024 * 1024;
const png = Buffer.from("not quite a picture ☺");
const base64 = png.toString("base64");
const zeros = (bytes: number) => Buffer.alloc(bytes).toString("base64");

const read = (answer: string) => {
  const reading = readDataUrl(answer);
  return reading.ok ? [reading.file.contentType, Buffer.from(reading.file.content).toString()] : reading.problem;
};

describe("a data URL", () => {
  it.each([
    [`data:image/png;base64,${base64}`, "image/png"],
    [`data:image/jpeg;base64,${base64}`, "image/jpeg"],
    [`data:image/gif;base64,${base64}`, "image/gif"],
    [`data:application/pdf;base64,${base64}`, "application/pdf"],
    [`DATA:Image/PNG;Base64,${base64}`, "image/png"],
    [`data:image/png;name=a.png;charset=utf-8;base64,${base64}`, "image/png"],
  ])("%.40s is a file", (answer, type) => {
    expect(isDataUrl(answer)).toBe(true);
    expect(read(answer)).toEqual([type, png.toString()]);
  });

  it.each([
    ["data:", /is written as/],
    ["data:image/png", /is written as/],
    ["data:,", /is written as/],
    [`data:image/png,${base64}`, /is written as/],
    [`data:image/png;base64;x,${base64}`, /is written as/],
    [`data:image/png;${"x".repeat(400)};base64,${base64}`, /is written as/],
    [`data:;base64,${base64}`, /not taken/],
    [`data:image/svg+xml;base64,${base64}`, /not taken/],
    [`data:text/html;base64,${base64}`, /not taken/],
    [`data:constructor;base64,${base64}`, /not taken/],
    [`data:image/png, image/gif;base64,${base64}`, /is written as/],
    ["data:image/png;base64,", /empty/],
    [`data:image/png;base64,${base64.replace("b", "!")}`, /not base64/],
    [`data:image/png;base64, ${base64}`, /not base64/],
    [`data:image/png;base64,${base64}====`, /not base64/],
    [`data:image/png;base64,${base64.slice(0, -1)}`, /not base64/],
    ["data:image/png;base64,QUJD\n", /not base64/],
    ["data:image/png;base64,QR==", /not base64/],
    [`data:image/png;base64,${zeros(10 * mebibyte + 1)}`, /10 MiB/],
    [`data:image/png;base64,${zeros(11 * mebibyte)}`, /10 MiB/],
  ])("%.60s is none, and is not quoted", (answer, problem) => {
    const message = read(answer);
    expect(message).toMatch(problem);
    expect(message).not.toContain(base64.slice(0, 8));
  });

  it("may hold 10 MiB", () => {
    const reading = readDataUrl(`data:image/png;base64,${zeros(10 * mebibyte)}`);
    expect(reading.ok && reading.file.content.length).toBe(10 * mebibyte);
  });

  it("is what it begins as, not what it holds", () => {
    expect(["see data:image/png", "dat:", "", " data:"].filter(isDataUrl)).toEqual([]);
  });
});
