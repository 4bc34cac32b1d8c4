import { expect, it } from "vitest";
import { operateTopics } from "./topics.ts";

it.each(["diff", "apply", "acls", "parked", "replay", "discard"])(
  "topics %s refuses a name, which would have no effect",
  async (verb) => {
    await expect(operateTopics([verb, "12"])).rejects.toMatchObject({
      code: "unexpected_name",
      message: "12 is not expected here; options begin with --",
    });
  },
);

it.each(["replay", "discard"])("topics %s takes ids of one service, not of all", async (verb) => {
  await expect(operateTopics([verb, "--service", "all", "--id", "1"])).rejects.toMatchObject({
    code: "ids_of_no_service",
  });
});

it.each(["-5", "abc", "0", "1.5", "100001"])("topics parked refuses the limit %s", async (limit) => {
  await expect(operateTopics(["parked", `--limit=${limit}`])).rejects.toMatchObject({
    code: "bad_number",
    message: "--limit takes a whole number from 1 to 100000",
  });
});
