import { databaseOfFile } from "@tessera/testkit/database";

/** Makes the database of a file of tests. */
export const layoutDatabase = () => databaseOfFile("layout", new URL("../../migrations/", import.meta.url));
