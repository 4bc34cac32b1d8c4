import { expect, it } from "vitest";
import { nextSteps } from "./announce.ts";

const folder = { data: "/var/lib/tessera", isUsualData: false };

it("[Y3.2] the lines after a start name its folder where commands would look elsewhere", () => {
  expect(nextSteps({ ...folder, madeOperatorKey: "made" })).toContain("import FILE --data /var/lib/tessera\n");
  expect(nextSteps({ ...folder, isUsualData: true, madeOperatorKey: "made" })).toContain("import FILE\n");
  expect(nextSteps({ ...folder, madeOperatorKey: "made" })).toContain("\nNext:\n");
});

it("[Y3.2] where the key is configured, the lines after a start say that the shell has to have it", () => {
  const lines = nextSteps({ data: "/srv/ada's data", isUsualData: true, madeOperatorKey: undefined });
  expect(lines).toContain("in a shell that has TESSERA_OPERATOR_KEY (from a file: set -a; . FILE; set +a):");
  // BASE_URL in the same file must not lead the command to another address.
  expect(lines).toContain("import FILE --data '/srv/ada'\\''s data'\n");
});
