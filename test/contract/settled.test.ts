import { clientMaps, loadServices } from "@tessera/cli/services";
import { Facts } from "@tessera/protos/services";
import { expect, it } from "vitest";

it("[R7.5] the gateway can ask every service that consumes facts how far it has read", async () => {
  const definitions = await loadServices(["all"]);
  const consuming = definitions.filter(({ consumes }) => consumes.length > 0).map(({ name }) => name);
  expect(consuming.length).toBeGreaterThan(1);
  const called = Object.values((await clientMaps.gateway?.()) ?? {});
  const asked = called.filter(([, contract]) => contract === Facts).map(([service]) => service);
  expect([...asked, "gateway"].sort()).toEqual(consuming.sort());
});
