import { readConfig } from "@tessera/kit/config/config";
import { describe, expect, it } from "vitest";
import { settings } from "../config.ts";
import { readProvider } from "./read-provider.ts";

const all = {
  OIDC_ISSUER: "https://login.example/realms/a",
  OIDC_CLIENT_ID: "tessera",
  OIDC_CLIENT_SECRET: "secret",
};
const read = (environment: Readonly<Record<string, string>>) => readProvider(readConfig(settings, environment));

describe("the settings of a provider of identities", () => {
  it("[P4.1] are all there or none is", () => {
    expect(read({})).toBeUndefined();
    expect(read(all)).toEqual({
      ...{ issuer: all.OIDC_ISSUER, clientId: "tessera", clientSecret: "secret", claim: "tessera" },
    });
    for (const name of Object.keys(all)) {
      const { [name as keyof typeof all]: _left, ...rest } = all;
      expect(() => read(rest), name).toThrow(`${name} is required where people sign in at a provider of identities`);
    }
  });

  it.each([
    ["https://login.example", true],
    ["http://localhost:9000", true],
    ["http://127.0.0.1:9000/a", true],
    ["http://[::1]:9000", true],
    ["http://login.example", false],
    ["http://127.0.0.1.example", false],
    ["ftp://localhost", false],
  ])("[P4.1] take an issuer that is reached encrypted, or on this machine: %s", (issuer, isTaken) => {
    const tried = () => read({ ...all, OIDC_ISSUER: issuer });
    if (isTaken) expect(tried()).toMatchObject({ issuer });
    else expect(tried).toThrow("OIDC_ISSUER must be an https URL such as");
  });
});
