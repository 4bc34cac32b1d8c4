import { databaseOfFile } from "@tessera/testkit/database";

export const boxofficeDatabase = () => databaseOfFile("boxoffice", new URL("../../migrations/", import.meta.url));
