import { Fault } from "@tessera/kit/fault";
import { parse } from "content-disposition";
import { beforeEach, describe, expect, it } from "vitest";
import { publicUrl } from "../../http/public-url.ts";
import { aPosition } from "../../testing/fake-peers.ts";
import { appOfEachTest, devices, inEvent, keys, publicBase } from "../../testing/serve-app.ts";
import { presentPosition } from "../listed-positions/present.ts";

const address = `${inEvent}/orderpositions/42/answer/7/`;
const file = { name: "Größe ☺.png", contentType: "image/png", content: Buffer.from("a picture") };

const app = appOfEachTest();
beforeEach(() => {
  app.peers.when("answerFiles", "getAnswerFile", async ({ position }) => {
    if (position !== 42) throw new Fault("not_found", "answer_file_not_found", "There is no file here.");
    return file;
  });
});

describe("GET orderpositions/{position}/answer/{question}/", () => {
  it("[R3.70] downloads the file under its name, and never as a page", async () => {
    const { status, headers, text } = await app.send("GET", address);
    expect([status, text]).toEqual([200, "a picture"]);
    expect(headers).toMatchObject({
      "content-type": "image/png",
      "content-length": "9",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox",
    });
    expect(headers["content-disposition"]).toContain("filename*=UTF-8''Gr%C3%B6%C3%9Fe%20%E2%98%BA.png");
    expect(parse(headers["content-disposition"] ?? "")).toMatchObject({
      type: "attachment",
      parameters: { filename: file.name },
    });
    expect(app.peers.requestsOf("getAnswerFile")).toEqual([
      { organizer: "bigevents", event: "sampleconf", position: 42, question: 7 },
    ]);
  });

  it.each(["application/pdf", "image/*", "image/png;q=0.1", "application/json", "*/*"])(
    "may be asked for as %s",
    async (accept) => {
      expect((await app.send("GET", address, { headers: { accept } })).status).toBe(200);
    },
  );

  it("cannot be had as something else", async () => {
    expect((await app.send("GET", address, { headers: { accept: "text/html" } })).status).toBe(406);
  });

  it("says of a file that is not there no more than that", async () => {
    for (const path of [
      address.replace("/42/", "/43/"),
      address.replace("/42/", "/x/"),
      address.replace("/7/", "/x/"),
    ]) {
      const { status, headers, json } = await app.send("GET", path);
      expect([status, headers["content-disposition"], json]).toEqual([404, undefined, { detail: expect.any(String) }]);
    }
  });

  it("tells of its size without its bytes", async () => {
    const { status, headers, text } = await app.send("HEAD", address);
    expect([status, headers["content-length"], text]).toEqual([200, "9", ""]);
  });

  it.each([
    [keys.reader, 200],
    [keys.gate, 200],
    [devices.scan, 200],
    [devices.kiosk, 403],
    [keys.settings, 403],
    [keys.none, 403],
    [keys.otherOrganizer, 403],
    [keys.otherEvent, 403],
    [keys.operator, 403],
    [null, 401],
  ])("with %s is %i", async (key, status) => {
    expect((await app.send("GET", address, { key })).status).toBe(status);
  });
});

describe("an answer that is a file", () => {
  it("[R3.70] is shown as the address where it can be had", () => {
    const { position } = aPosition();
    const answer = { questionIdentifier: "Q", options: [], optionIdentifiers: [] };
    const shown = presentPosition(
      aPosition({
        position: {
          ...(position as NonNullable<typeof position>),
          answers: [
            { ...answer, question: 7, answer: "file:image/png;9;abc", file: true },
            { ...answer, question: 8, answer: "file:image/png;9;abc" },
          ],
        },
      }),
      { url: publicUrl(publicBase, "/", new URLSearchParams()), organizer: "bigevents", event: "sampleconf" },
      { names: [], documents: undefined, pdfData: undefined, prints: new Map() },
    );
    expect(shown.answers.map((each) => each.answer)).toEqual([`${publicBase}${address}`, "file:image/png;9;abc"]);
  });
});
