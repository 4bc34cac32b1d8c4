import { databaseOfFile } from "@tessera/testkit/database";

/** Makes the database of a file of tests. */
export const shredderDatabase = () => databaseOfFile("shredder", new URL("../../migrations/", import.meta.url));
