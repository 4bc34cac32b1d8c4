import { databaseOfFile } from "@tessera/testkit/database";

/** Makes the database of a file of tests. */
export const boxofficeDatabase = () => databaseOfFile("boxoffice", new URL("../../migrations/", import.meta.url));
