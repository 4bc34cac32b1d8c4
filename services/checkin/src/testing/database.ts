import { databaseOfFile } from "@tessera/testkit/database";

export const checkinDatabase = () => databaseOfFile("checkin", new URL("../../migrations/", import.meta.url));
