import { systemClock } from "@tessera/kit/clock";
import { expect, it } from "vitest";
import { lookAround } from "../configuration/surroundings.ts";
import { withFiles } from "./examine-stores.ts";

it("the files of the platform are not looked for where a named process runs elsewhere", async () => {
  const question = { names: ["voucher"], data: "/nonexistent", environment: { FILES_DIR: "/nonexistent/files" } };
  const open = (health: readonly string[]) => lookAround({ ...question, health }, { clock: systemClock });
  expect(await withFiles(await open([]), async () => "opened")).toBe("opened");
  // The pod of `helm test` has not the volume of the one pod that it asks.
  const named = await open(["http://tessera-all:9090"]);
  await expect(withFiles(named, async () => "opened")).rejects.toThrow("the folder for files is not here");
});
