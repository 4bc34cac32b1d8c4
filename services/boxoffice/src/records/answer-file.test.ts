import { hash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isKeyOfFile, isReference, keyOfFile, nameFile, readDataUrl, toReference } from "./answer-file.ts";

const png = Buffer.from("not quite a picture ☺");
const base64 = png.toString("base64");

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
