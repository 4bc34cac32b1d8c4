import { databaseOfFile } from "@tessera/testkit/database";

export const shredderDatabase = () => databaseOfFile("shredder", new URL("../../migrations/", import.meta.url));
