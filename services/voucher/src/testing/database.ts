import { databaseOfFile } from "@tessera/testkit/database";

/** Makes the database of a file of tests. */
export const voucherDatabase = () => databaseOfFile("voucher", new URL("../../migrations/", import.meta.url));
