import { expect, it } from "vitest";
import { closestName } from "./closest-name.ts";

const names = ["event.orders:read", "event.orders:write", "event.items:write"];

it.each([
  ["a letter that is missing", "event.oders:read", "event.orders:read"],
  ["a wrong sign", "event.orders.write", "event.orders:write"],
  ["the same name", "event.items:write", "event.items:write"],
  ["another name", "nonsense", undefined],
  ["a longer name of the same letters", "event.orders:read-and-write", undefined],
  ["nothing", "", undefined],
])("finds what was meant by %s", (_name, sent, meant) => {
  expect(closestName(sent, names)).toBe(meant);
});

it.each([
  ["a letter less", "KAFKA_BROKER", "KAFKA_BROKERS"],
  ["a letter more", "KAFKA_BROKERSS", "KAFKA_BROKERS"],
  ["two exchanged letters", "KAFKA_BORKERS", "KAFKA_BROKERS"],
  ["two exchanged letters at the beginning", "AKFKA_BROKERS", "KAFKA_BROKERS"],
  ["another letter", "KAFKA-BROKERS", "KAFKA_BROKERS"],
  ["two other letters", "KAFKA-BROKERZ", undefined],
  ["exchanged letters and one less", "KAFKA_BORKER", undefined],
])("within one edit it finds what was meant by %s", (_name, sent, meant) => {
  expect(closestName(sent, ["KAFKA_BROKERS", "KAFKA_TLS"], { mostEdits: 1 })).toBe(meant);
});
