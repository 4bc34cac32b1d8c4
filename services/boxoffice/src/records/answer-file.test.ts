import { hash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isDataUrl, isKeyOfFile, isReference, keyOfFile, nameFile, readDataUrl, toReference } from "./answer-file.ts";

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

describe("a reference", () => {
  const file = { contentType: "image/png", size: png.length, sha256: hash("sha256", png) };

  it("is the same for the same content, and another for any other", () => {
    const reading = readDataUrl(`data:image/png;base64,${base64}`);
    expect(reading).toMatchObject({ ok: true, file: { sha256: file.sha256 } });
    expect(isReference(toReference(file))).toBe(true);
    expect(toReference({ ...file })).toBe(toReference(file));
    const others = [{ contentType: "image/gif" }, { size: 1 }, { sha256: hash("sha256", "x") }];
    for (const other of others) expect(toReference({ ...file, ...other })).not.toBe(toReference(file));
  });

  it("is no other text", () => {
    const texts = [
      "",
      "file:",
      `${toReference(file)} `,
      toReference({ ...file, contentType: "text/html" }),
      "file:1-2",
    ];
    expect(texts.filter(isReference)).toEqual([]);
  });
});

describe("the name of a file", () => {
  it.each([
    [null, "answer.png"],
    ["", "answer.png"],
    ["...", "answer.png"],
    ["Größe ☺.PNG", "Größe ☺.PNG"],
    ["../../etc/passwd", "passwd.png"],
    ["C:\\photos\\me.png", "me.png"],
    ["invoice.exe", "invoice.exe.png"],
    ["a\r\nb\u202egnp.exe", "abgnp.exe.png"],
    ["folder/", "answer.png"],
  ])("%j becomes %j", (sent, name) => {
    expect(nameFile(sent, "image/png")).toBe(name);
  });

  it("may end as others of its type do", () => {
    expect(nameFile("me.jpeg", "image/jpeg")).toBe("me.jpeg");
  });
});

describe("the key of a file", () => {
  const id = "01234567-89ab-cdef-0123-456789abcdef";

  it("does not tell its event, and is of no other", () => {
    const keys = [
      keyOfFile({ organizer: "org", event: "fest" }, id),
      keyOfFile({ organizer: "org", event: "Fest" }, id),
      keyOfFile({ organizer: "or", event: "gfest" }, id),
    ];
    expect(new Set(keys).size).toBe(3);
    for (const key of keys) expect([isKeyOfFile(key), /org|fest/.test(key)]).toEqual([true, false]);
  });

  it.each([`answers/${id}`, `uploads/${id}`, `answers/x/${id}`, "answers/", ""])("%j is none", (text) => {
    expect(isKeyOfFile(text)).toBe(false);
  });
});
