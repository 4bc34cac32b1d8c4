import { expect, it } from "vitest";
import { chooseVariables } from "./install-environment.mjs";

it("programs of packages see how the registry is reached, and no secret of the platform", () => {
  const needed = {
    PATH: "/bin",
    HOME: "/somewhere",
    LC_ALL: "C",
    https_proxy: "http://proxy",
    NO_PROXY: "*",
    NODE_EXTRA_CA_CERTS: "ca.pem",
    npm_config_registry: "https://mirror",
    NPM_TOKEN: "of the registry",
    XDG_CACHE_HOME: "/cache",
  };
  const secret = {
    TESSERA_OPERATOR_KEY: "x",
    OPERATOR_KEY: "x",
    DATABASE_URL: "x",
    REDIS_URL: "x",
    KAFKA_SASL_PASSWORD: "x",
    S3_SECRET_ACCESS_KEY: "x",
    AWS_SECRET_ACCESS_KEY: "x",
    PRETIX_TOKEN: "x",
    GITHUB_TOKEN: "x",
    A_PATH: "x",
  };
  expect(chooseVariables({ ...needed, ...secret })).toEqual({ ...needed, CI: "true" });
});
