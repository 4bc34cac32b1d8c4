import { randomBytes } from "node:crypto";
import { aPdf, fileWith, textIn } from "@tessera/sent-files/testing/sample-files";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { kindOverSockets } from "./run-platform.ts";
import { listData, orderData, positionData, samplesOf } from "./sample-records.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

const { apiKey, eventPath, groundwork, ofEvent } = samplesOf("photographers");
const question = 31;
const as = `Token ${apiKey}`;
const address = `${eventPath}/orderpositions/1001/answer/${question}/`;
const picture = fileWith("image/png", randomBytes(1.5 * 1024 * 1024).toString("hex"));

const order = (answers: object[]) => ofEvent("order", orderData({ positions: [positionData({ answers })] }));
const answeredWith = (bytes: Uint8Array, type: string, name: string) =>
  order([
    {
      question,
      answer: `data:${type};base64,${Buffer.from(bytes).toString("base64")}`,
      question_identifier: "PHOTO",
      file_name: name,
    },
  ]);

describe("an order with a file as an answer", () => {
  let platform: TestPlatform;
  beforeAll(async () => {
    platform = await startTestPlatform({ kind: kindOverSockets });
    platform.keepOutOfLogs(apiKey, picture.toString("base64").slice(1000, 1040), "geheim");
    await take(
      ...groundwork(),
      ofEvent("question", { id: question, question: { en: "Your photo" }, type: "F", identifier: "PHOTO" }),
      ofEvent("checkin_list", listData()),
      answeredWith(picture, "image/png", "geheim ☺.png"),
    );
  });
  afterAll(async () => {
    await platform.stop();
  });

  async function take(...records: unknown[]): Promise<void> {
    expect(await platform.import(records)).toMatchObject({ rejected: 0, settled: true });
  }

  const shown = async () => {
    const { body } = await platform.request("GET", `${eventPath}/checkinlists/1/positions/1001/`, { as });
    return (body as { answers: { answer: string }[] }).answers.map(({ answer }) => answer);
  };

  /** As bytes, which text would not keep. */
  async function download(url: string): Promise<[number, string | null, Buffer]> {
    const response = await fetch(url, { headers: { authorization: as } });
    return [response.status, response.headers.get("content-type"), Buffer.from(await response.arrayBuffer())];
  }

  it("shows a URL, also at the gate, which returns the exact bytes", async () => {
    const [url = ""] = await shown();
    expect(url).toBe(`${platform.baseUrl}${address}`);
    const [status, type, bytes] = await download(url);
    expect([status, type, bytes.equals(picture)]).toEqual([200, "image/png", true]);
    const { headers } = await platform.request("HEAD", address, { as });
    expect(headers.get("content-disposition")).toContain("filename*=UTF-8''geheim%20%E2%98%BA.png");
    const scan = await platform.request("POST", `${eventPath}/checkinlists/1/positions/1001/redeem/`, { as, body: {} });
    expect(scan).toMatchObject({ status: 201, body: { position: { answers: [{ question, answer: url }] } } });
  });

  it("is the same when it is sent again", async () => {
    await take(answeredWith(picture, "image/png", "geheim ☺.png"));
    expect(await shown()).toEqual([`${platform.baseUrl}${address}`]);
    const [status, , bytes] = await download(`${platform.baseUrl}${address}`);
    expect([status, bytes.equals(picture)]).toEqual([200, true]);
  });

  it("has the file of its last record, or no file if that had none", async () => {
    await take(answeredWith(fileWith("application/pdf", "another"), "application/pdf", "other.pdf"));
    const [status, type, bytes] = await download(`${platform.baseUrl}${address}`);
    expect([status, type, textIn(bytes)]).toEqual([200, "application/pdf", "another"]);
    await take(order([]));
    expect(await shown()).toEqual([]);
    expect((await platform.request("GET", address, { as })).status).toBe(404);
  });

  it.each([
    ["another type", Buffer.from("geheim"), "text/html"],
    ["another type than it says", Buffer.from("geheim"), "image/png"],
    ["a script", aPdf({ catalog: "/OpenAction << /S /JavaScript /JS (geheim) >>" }), "application/pdf"],
  ])("is left out with a file of %s, which is not quoted", async (_name, bytes, type) => {
    const answer = await platform.import([answeredWith(bytes, type, "geheim.html")]);
    expect(answer).toMatchObject({ accepted: 1, rejected: 0, warned: 1 });
    expect(JSON.stringify(answer)).toContain("positions.0.answers");
    expect(JSON.stringify(answer)).not.toMatch(/geheim|Z2VoZWlt/);
  });
});
