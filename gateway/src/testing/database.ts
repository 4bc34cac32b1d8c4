import { databaseOfFile } from "@tessera/testkit/database";

export const gatewayDatabase = () => databaseOfFile("gateway", new URL("../../migrations/", import.meta.url));
