import { expect, it } from "vitest";
import { answerQuery } from "./cluster-names.ts";

/** A question about a name, of a type. */
function ask(name: string, type: number): Buffer {
  const header = Buffer.from([0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  const labels = name.split(".").map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)]));
  return Buffer.concat([header, ...labels, Buffer.from([0, 0, type, 0, 1])]);
}

const find = (name: string) =>
  name === "checkin.tickets.svc.cluster.local" ? ["10.244.0.10", "10.244.0.11"] : undefined;

it("a name has the addresses of its pods, and none of another kind", () => {
  const query = ask("Checkin.tickets.svc.cluster.local", 1);
  const answer = answerQuery(query, find);
  expect(answer?.subarray(0, 8).toString("hex")).toBe("1234858000010002");
  expect(answer?.subarray(-4)).toEqual(Buffer.from([10, 244, 0, 11]));
  expect(answer?.length).toBe(query.length + 2 * 16);
  expect(answerQuery(ask("checkin.tickets.svc.cluster.local", 28), find)?.readUInt16BE(6)).toBe(0);
});

it("an unknown name does not exist, and half a question is not answered", () => {
  const answer = answerQuery(ask("nothing.example.org", 1), find);
  expect((answer?.readUInt16BE(2) ?? 0) & 0xf).toBe(3);
  expect(answerQuery(ask("checkin", 1).subarray(0, 14), find)).toBeUndefined();
});
