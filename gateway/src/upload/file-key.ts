const folder = "uploads/";

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Where the files of uploads lie in the files store. */
export const uploadsPrefix = folder;

/** Where the file of an upload lies: nobody guesses it who does not know the id. */
export function keyOf(id: string): string {
  return folder + id;
}

/** The upload whose file lies at a key; undefined where the key is none of those. */
export function idAt(key: string): string | undefined {
  const id = key.slice(folder.length);
  return key.startsWith(folder) && uuid.test(id) ? id : undefined;
}
