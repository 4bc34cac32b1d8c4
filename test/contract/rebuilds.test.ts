import { loadServices } from "@tessera/cli/services";
import { topics } from "@tessera/protos/topics";
import { expect, it } from "vitest";

it("every topic of the catalogue is rebuilt by its owner, and by no other service", async () => {
  const definitions = await loadServices(["all"]);
  const rebuilt = definitions.flatMap(({ name, rebuilds }) =>
    (rebuilds ?? []).map(({ topic }) => `${topic.name} by ${name}, ${topic.retention.kind}`),
  );
  const owned = Object.values(topics).map(({ name, owner, retention }) => `${name} by ${owner}, ${retention.kind}`);
  expect(rebuilt.sort()).toEqual(owned.sort());
});
