import { databaseOfFile } from "@tessera/testkit/database";

export const offlineSalesDatabase = () =>
  databaseOfFile("offline_sales", new URL("../../migrations/", import.meta.url));
