import { expect, it } from "vitest";
import type { KafkaClient, Producer } from "./client.ts";
import { createPublisher } from "./publisher.ts";

/** Connections to a broker, each made when the test says so. */
function brokerOf(connect: (turn: string) => Promise<void>) {
  const connected = new Set<string>();
  const client: Pick<KafkaClient, "producer"> = {
    producer(transactionalId) {
      const turn = transactionalId.split("/").at(-1) ?? "";
      const producer: Pick<Producer, "connect" | "disconnect" | "transaction"> = {
        async connect() {
          await connect(turn);
          connected.add(turn);
        },
        async disconnect() {
          connected.delete(turn);
        },
        transaction: async () => {
          const transaction = { abort: async () => {} };
          return transaction as Awaited<ReturnType<Producer["transaction"]>>;
        },
      };
      return { producer: producer as Producer, aimedAt: new Set() };
    },
  };
  const publisher = createPublisher({
    client: client as KafkaClient,
    topic: "things.v1",
    kafkaTopic: "things.v1",
    transactionalId: "relay/things.v1",
    timeoutMs: 300,
  });
  return { publisher, connected };
}

const refused = async () => {
  throw new Error("connection refused");
};

it.each(["0", "1"])("leaves no connection open when only the one of turn %s fails", async (failing) => {
  const slow = Promise.withResolvers<void>();
  const { publisher, connected } = brokerOf((turn) => (turn === failing ? refused() : slow.promise));
  const claiming = publisher.claim();
  claiming.catch(() => {});
  setTimeout(slow.resolve, 20);
  await expect(claiming).rejects.toMatchObject({ code: "bus_unavailable" });
  await slow.promise;
  await expect.poll(() => [...connected]).toEqual([]);
});

it("leaves no connection open that is made after the time for it was over", async () => {
  const slow = Promise.withResolvers<void>();
  const { publisher, connected } = brokerOf((turn) => (turn === "0" ? refused() : slow.promise));
  await expect(publisher.claim()).rejects.toMatchObject({ code: "bus_unavailable" });
  slow.resolve();
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([...connected]).toEqual([]);
});

it("opens again after a failure", async () => {
  let isDown = true;
  const { publisher, connected } = brokerOf(async () => {
    if (isDown) await refused();
  });
  await expect(publisher.claim()).rejects.toMatchObject({ code: "bus_unavailable" });
  isDown = false;
  await publisher.claim();
  expect([...connected]).toEqual(["0", "1"]);
  await publisher.close();
  expect([...connected]).toEqual([]);
});
