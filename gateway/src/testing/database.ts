import { databaseOfFile } from "@tessera/testkit/database";

/** Makes the database of a file of tests. */
export const gatewayDatabase = () => databaseOfFile("gateway", new URL("../../migrations/", import.meta.url));
