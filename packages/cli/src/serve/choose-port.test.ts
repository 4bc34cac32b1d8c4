import { type AddressInfo, createServer } from "node:net";
import { expect, it } from "vitest";
import { choosePort } from "./choose-port.ts";

it("takes the usual port, or the next one that is free", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  expect(await choosePort(port, "127.0.0.1")).toBeGreaterThan(port);
  await new Promise((resolve) => server.close(resolve));
  expect(await choosePort(port, "127.0.0.1")).toBe(port);
});
