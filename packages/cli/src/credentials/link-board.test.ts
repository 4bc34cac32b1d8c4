import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { operateLinks } from "./link-board.ts";

const made = "https://tickets.example.com/shop/board/#link=fresh";

let server: Server;
let url: string;
let asked: unknown[];
let answer: readonly [status: number, body: object];
const written = { stdout: "", stderr: "" };

beforeEach(async () => {
  asked = [];
  answer = [201, { id: "1", link: made, expires: "2027-05-12T07:30:00Z" }];
  for (const name of ["stdout", "stderr"] as const) {
    written[name] = "";
    vi.spyOn(process[name], "write").mockImplementation((chunk) => {
      written[name] += String(chunk);
      return true;
    });
  }
  vi.stubEnv("TESSERA_OPERATOR_KEY", "operator");
  server = createServer((request, response) => {
    void text(request).then((body) => {
      asked.push({
        to: `${request.method} ${request.url}`,
        key: request.headers.authorization,
        body: JSON.parse(body),
      });
      response.writeHead(answer[0], { "content-type": "application/json" });
      response.end(JSON.stringify(answer[1]));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => void server.close());

const link = (...args: string[]) => operateLinks([...args, "--url", url]);

it("[P5.1] prints the link alone, and draws it", async () => {
  await link("board", "--organizer", "big events");
  expect(written.stdout).toBe(`${made}\n`);
  expect(written.stderr.split("\n").filter((line) => /[▀▄█]{3}/.test(line)).length).toBeGreaterThan(12);
  expect(written.stderr).not.toContain("fresh");
  expect(asked).toEqual([
    {
      to: "POST /api/v1/organizers/big%20events/signinlinks/",
      key: "Token operator",
      body: { name: "Board", all_events: true, events: [], session_for: 43_200 },
    },
  ]);
});

it("[P5.1] passes on for whom it is, and says what the platform refuses", async () => {
  const asks = ["--events", "fest, expo", "--permissions", "event.vouchers:read", "--for", "3d", "--name", "Ada"];
  await link("board", "--organizer", "big", ...asks);
  expect(asked[0]).toMatchObject({
    body: {
      ...{ name: "Ada", all_events: false, events: ["fest", "expo"], permissions: ["event.vouchers:read"] },
      session_for: 259_200,
    },
  });
  answer = [400, { events: ["There is no event expo."] }];
  await expect(link("board", "--organizer", "big", ...asks)).rejects.toThrow("events: There is no event expo");
});

it.each([
  [["board"], "--organizer is required"],
  [["board", "--organizer", "big", "--for", "long"], "--for must be a duration such as"],
  [["board", "--organizer", "big", "more"], "more is not expected here"],
  [["design"], "there is no verb link design"],
])("%j is refused in a sentence", async (args, message) => {
  await expect(operateLinks(args)).rejects.toThrow(message);
  expect(asked).toEqual([]);
});
