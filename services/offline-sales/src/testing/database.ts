import { databaseOfFile } from "@tessera/testkit/database";

/** Makes the database of a file of tests. */
export const offlineSalesDatabase = () =>
  databaseOfFile("offline_sales", new URL("../../migrations/", import.meta.url));
