import { databaseOfFile } from "@tessera/testkit/database";

/** Makes the database of a file of tests. */
export const checkinDatabase = () => databaseOfFile("checkin", new URL("../../migrations/", import.meta.url));
