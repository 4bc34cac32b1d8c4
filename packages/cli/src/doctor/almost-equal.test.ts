import { expect, it } from "vitest";
import { findAlmostEqual } from "./almost-equal.ts";

it.each([
  ["KAFKA_BROKER", "KAFKA_BROKERS"],
  ["KAFKA_BROKERSS", "KAFKA_BROKERS"],
  ["KAFKA_BORKERS", "KAFKA_BROKERS"],
  ["KAFKA-BROKERS", "KAFKA_BROKERS"],
  ["AKFKA_BROKERS", "KAFKA_BROKERS"],
  ["KAFKA_BROKERS", undefined],
  ["KAFKA_BROKERING", undefined],
  ["CASH", undefined],
  ["PATH", undefined],
])("%s is almost %s", (name, found) => {
  expect(findAlmostEqual(name, ["CACHE", "KAFKA_BROKERS", "KAFKA_TLS"])).toBe(found);
});
