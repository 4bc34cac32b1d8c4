/** Passwords that examples, images and installers bring along; whoever guesses begins with them. */
export const wellKnownSecrets: ReadonlySet<string> = new Set([
  ...["admin", "administrator", "change-me", "changeit", "changeme", "default", "example", "guest", "key", "kafka"],
  ...["minio", "minio123", "minioadmin", "operator", "operator-key", "pass", "passw0rd", "password", "postgres"],
  ...["redis", "root", "secret", "tessera", "test", "user", "123456", "12345678"],
]);
