import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { checkFile, mostBytes, nameToSend, uploadFile } from "./upload-file.ts";

describe("[G3.14] a file that answers a question", () => {
  it.each([
    ["photo.jpg", "image/jpeg", 3_000_000, undefined],
    ["terms.pdf", "application/pdf", mostBytes, undefined],
    ["terms.pdf", "application/pdf", mostBytes + 1, { kind: "large" }],
    ["photo.png", "image/png", 0, { kind: "empty" }],
    ["photo.heic", "image/heic", 5, { kind: "type", type: "image/heic" }],
    ["picture.svg", "image/svg+xml", 5, { kind: "type", type: "image/svg+xml" }],
    ["notes", "", 5, { kind: "type", type: "notes" }],
    ["x", "constructor", 5, { kind: "type", type: "constructor" }],
  ])("%s of the type %j with %d bytes is told to be %j before it is sent", (name, type, size, problem) => {
    expect(checkFile({ name, type, size })).toEqual(problem);
  });

  it.each([
    ["photo.jpg", "image/jpeg", "photo.jpg"],
    ["photo.jpeg", "image/jpeg", "photo.jpeg"],
    ["IMG_1.JPG", "image/jpeg", "IMG_1.jpg"],
    ["image", "image/png", "image.png"],
    [".png", "image/png", "file.png"],
    ["a.b.heic", "image/jpeg", "a.b.jpg"],
  ])("%s of the type %s is sent as %s", (name, type, expected) => {
    expect(nameToSend({ name, type })).toBe(expected);
  });

  describe("is sent", () => {
    let asked: RequestInit[];
    let answers: (() => Response)[];
    beforeEach(() => {
      [asked, answers] = [[], []];
      vi.stubGlobal("document", { baseURI: "https://tickets.example.com/shop/scan/" });
      vi.stubGlobal("fetch", async (url: URL, request: RequestInit) => {
        expect(url.href).toBe("https://tickets.example.com/shop/api/v1/upload");
        asked.push(request);
        const answer = answers.shift();
        if (answer === undefined) throw new TypeError("no network");
        return answer();
      });
    });
    afterEach(() => void vi.unstubAllGlobals());
    const photo = () => new File(["picture"], "Zoë's (new).jpg", { type: "image/jpeg" });
    const send = (file: File) => uploadFile(file, "t", new AbortController().signal);

    it("as it is, with its name, and once", async () => {
      answers = [() => Response.json({ id: "file:1" }, { status: 201 })];
      const file = photo();
      expect(await send(file)).toEqual({ id: "file:1" });
      expect(await send(file)).toEqual({ id: "file:1" });
      expect(asked).toMatchObject([
        {
          method: "POST",
          body: file,
          headers: {
            "content-type": "image/jpeg",
            "content-disposition": "attachment; filename*=UTF-8''Zo%C3%AB%27s%20%28new%29.jpg",
          },
        },
      ]);
    });

    it("again under the same key after no answer came, and the crew is told why it was not", async () => {
      const file = photo();
      expect(await send(file)).toEqual({ problem: { kind: "offline" } });
      answers = [() => Response.json({ detail: "later" }, { status: 503 })];
      expect(await send(file)).toEqual({ problem: { kind: "busy" } });
      answers = [() => Response.json({ detail: "This is no picture." }, { status: 400 })];
      expect(await send(file)).toEqual({ problem: { kind: "refused", detail: "This is no picture." } });
      const keys = asked.map(({ headers }) => (headers as Record<string, string>)["x-idempotency-key"]);
      expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
    });
  });
});
