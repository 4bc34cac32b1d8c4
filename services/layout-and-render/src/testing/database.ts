import { databaseOfFile } from "@tessera/testkit/database";

export const layoutDatabase = () => databaseOfFile("layout", new URL("../../migrations/", import.meta.url));
