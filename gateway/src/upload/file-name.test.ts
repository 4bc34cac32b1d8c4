import { describe, expect, it } from "vitest";
import { fileNameOf, fits } from "./file-name.ts";

describe("the name of a file", () => {
  it.each([
    ['attachment; filename="a.pdf"', "a.pdf"],
    ["attachment; filename=a.pdf", "a.pdf"],
    ['ATTACHMENT;FileName="a b;c.pdf"', "a b;c.pdf"],
    ["attachment; filename*=UTF-8''%e2%82%ac%20%C3%BC.pdf", "€ ü.pdf"],
    ["attachment; filename=\"x.pdf\"; filename*=UTF-8''%E2%82%AC.pdf", "€.pdf"],
    [`attachment; filename="${Buffer.from("Grüße €.pdf").toString("latin1")}"`, "Grüße €.pdf"],
    ['attachment; filename="Gr\xfc\xdfe.pdf"', "Grüße.pdf"],
    ['attachment; filename="../../etc/a.pdf"', "a.pdf"],
    ['attachment; filename="C:\\\\temp\\\\a.pdf"', "a.pdf"],
    ["attachment; filename*=UTF-8''a%00%0d%0a.%E2%80%AEpdf", "a.pdf"],
    [`attachment; filename="${"ä".repeat(300)}.pdf"`, `${"ä".repeat(251)}.pdf`],
  ])("is read from %s", (header, name) => {
    expect(fileNameOf(header)).toBe(name);
  });

  it.each([
    "",
    "attachment",
    'attachment; filename=""',
    'attachment; filename=".."',
    'attachment; filename="a/"',
    "filename",
    ";;;=",
  ])("is missing in %s", (header) => {
    expect(fileNameOf(header)).toBeUndefined();
  });

  it("ends as the type says", () => {
    expect(fits("a.jpeg", "image/jpeg")).toBe(true);
    expect(fits("a.jpg", "image/jpeg")).toBe(true);
    for (const name of ["a.JPG", "a.png", ".jpg", "jpg", "a.jpg.exe"]) expect(fits(name, "image/jpeg")).toBe(false);
  });
});
