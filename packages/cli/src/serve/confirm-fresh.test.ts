import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, it } from "vitest";
import { confirmFresh } from "./confirm-fresh.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-fresh-"));
  await mkdir(join(directory, "postgres"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const answering = (text: string, { isTTY = true } = {}) => {
  const input = Object.assign(new PassThrough(), { isTTY }) as unknown as NodeJS.ReadStream;
  const output = Object.assign(new PassThrough(), { isTTY: true }) as unknown as NodeJS.WriteStream;
  if (text !== "") (input as unknown as PassThrough).write(text);
  return { input, output };
};

it("deletes nothing that a person wants to keep", async () => {
  await expect(confirmFresh(directory, answering("\n"))).rejects.toMatchObject({ code: "not_confirmed" });
  await expect(confirmFresh(directory, answering("no\n"))).rejects.toMatchObject({ code: "not_confirmed" });
  const left = answering("");
  const asking = confirmFresh(directory, left);
  (left.input as unknown as PassThrough).end();
  await expect(asking).rejects.toMatchObject({ code: "not_confirmed" });
  await expect(confirmFresh(directory, answering("y\n"))).resolves.toBeUndefined();
});

it("asks no program, and for no empty folder", async () => {
  await expect(confirmFresh(directory, answering("", { isTTY: false }))).resolves.toBeUndefined();
  await expect(confirmFresh(join(directory, "none"), answering(""))).resolves.toBeUndefined();
});
