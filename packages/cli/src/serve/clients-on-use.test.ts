import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";

const clients = ["kafkajs", "@redis/client", "@aws-sdk/client-s3"];

/** Prints which of the clients are loaded with a module. */
const program = `
  const { registerHooks } = await import("node:module");
  const found = new Set();
  registerHooks({
    resolve(name, context, next) {
      if (${JSON.stringify(clients)}.includes(name)) found.add(name);
      return next(name, context);
    },
  });
  await import(process.argv[1]);
  console.log(JSON.stringify([...found]));`;

function clientsLoadedWith(module: string): unknown {
  const { href } = new URL(module, import.meta.url);
  const options = ["--conditions=source", "--input-type=module", "--eval", program, href];
  return JSON.parse(execFileSync(process.execPath, options, { encoding: "utf8" }));
}

it("a platform without Kafka, Redis and S3 starts without their clients", () => {
  expect(clientsLoadedWith("serve.ts")).toEqual([]);
});

it("finds clients that are loaded", () => {
  expect(clientsLoadedWith("../../../engines/src/cache/redis.ts")).toEqual(["@redis/client"]);
});
