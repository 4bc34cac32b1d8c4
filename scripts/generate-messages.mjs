// A plugin for buf: ts-proto, with numbers of 64 bits that are read if a number of JavaScript has exactly their value.
//
// ts-proto refuses all numbers beyond 2^53. Instants are microseconds, and 2^53 of them end in the year 2255; but whole seconds
// stay exact up to the year 9999, which programs write for "never".
import { spawnSync } from "node:child_process";
import { buffer } from "node:stream/consumers";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { CodeGeneratorResponseSchema } from "@bufbuild/protobuf/wkt";

const refusing = /function longToNumber\(int64: \{ toString\(\): string \}\): number \{\n.*?\n\}\n/s;
const exact = `function longToNumber(int64: { toString(): string }): number {
  const num = globalThis.Number(int64);
  if (!globalThis.Number.isSafeInteger(num) && globalThis.BigInt(num) !== int64) {
    throw new globalThis.Error("No number has exactly this value");
  }
  return num;
}
`;

const input = await buffer(process.stdin);
const { status, stdout } = spawnSync("protoc-gen-ts_proto", {
  input,
  stdio: ["pipe", "pipe", "inherit"],
  maxBuffer: 2 ** 30,
});
if (status !== 0) process.exit(status ?? 1);
const response = fromBinary(CodeGeneratorResponseSchema, stdout);
for (const file of response.file) {
  if (!file.content?.includes("function longToNumber(")) continue;
  const content = file.content.replace(refusing, exact);
  if (content === file.content) throw new Error(`${file.name}: ts-proto writes longToNumber in another way now`);
  file.content = content;
}
process.stdout.write(toBinary(CodeGeneratorResponseSchema, response));
