import { expect, it } from "vitest";
import { environmentOfAll } from "./served-environment.ts";

const options = {
  port: "8000",
  files: "/files",
  operatorKey: "operator",
  demoKeys: { apiKey: "of-a-shop", deviceKey: "of-a-gate" },
};

it("the documentation shows the keys of the demo on this machine alone", () => {
  const shown = { DEMO_API_KEY: "of-a-shop", DEMO_DEVICE_KEY: "of-a-gate" };
  expect(environmentOfAll({}, options)).toMatchObject(shown);
  expect(environmentOfAll({ HTTP_HOST: "::1" }, options)).toMatchObject(shown);
  for (const HTTP_HOST of ["0.0.0.0", "::", "10.0.0.7"])
    expect(environmentOfAll({ HTTP_HOST }, options)).not.toHaveProperty("DEMO_API_KEY");
  expect(environmentOfAll({}, { ...options, demoKeys: undefined })).not.toHaveProperty("DEMO_API_KEY");
});

it.each([
  ["HTTP_HOST", "127.0.0.1"],
  ["BASE_URL", "http://localhost:8000"],
  ["FILES_DIR", "/files"],
])("takes an empty %s as not set", (name, value) => {
  expect(environmentOfAll({ [name]: "" }, options)).toHaveProperty(name, value);
});
