import { databaseOfFile } from "@tessera/testkit/database";

export const voucherDatabase = () => databaseOfFile("voucher", new URL("../../migrations/", import.meta.url));
